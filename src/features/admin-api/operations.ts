import type { Operation } from './definition/operation.ts';
import { clientOperations } from './operations/clients.ts';
import { jobOperations } from './operations/jobs.ts';
import { personalSessionOperations } from './operations/personal-sessions.ts';
import { policyDataOperations } from './operations/policy-data.ts';
import { registrationTokenOperations } from './operations/registration-tokens.ts';
import { serverOperations } from './operations/server.ts';
import { sessionOperations } from './operations/sessions.ts';
import { upstreamOperations } from './operations/upstream.ts';
import { userClaimOperations } from './operations/user-claims.ts';
import { userEmailOperations } from './operations/user-emails.ts';
import { userSecretOperations } from './operations/user-secrets.ts';
import { userOperations } from './operations/users.ts';

/** Of all operations, in the order of the description. */
export const TAGS = [
  'server',
  'user',
  'user-email',
  'user-session',
  'oauth2-client',
  'oauth2-session',
  'compat-session',
  'personal-session',
  'user-registration-token',
  'upstream-oauth-link',
  'upstream-oauth-provider',
  'policy-data',
  'job',
] as const;

/** Everything that the API can do. */
export const OPERATIONS: readonly Operation[] = [
  ...serverOperations,
  ...userOperations,
  ...userSecretOperations,
  ...userClaimOperations,
  ...userEmailOperations,
  ...sessionOperations,
  ...personalSessionOperations,
  ...registrationTokenOperations,
  ...clientOperations,
  ...upstreamOperations,
  ...policyDataOperations,
  ...jobOperations,
];
