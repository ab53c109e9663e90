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

/** Tags of all operations with their descriptions, in the order of the API description. */
export const TAGS = {
  server: 'What the service is, and what it lets people do.',
  user: 'Accounts: making, reading, locking and ending them, with their password, groups and claims.',
  'user-email': 'Confirmed e-mail addresses of accounts.',
  'user-session': 'Browsers in which people are signed in.',
  'oauth2-client': 'Applications, those of the configuration and those that registered themselves.',
  'oauth2-session': 'What people, or applications for themselves, permit applications, with the tokens.',
  'compat-session': 'Chat clients that signed in by the routes of the homeserver.',
  'personal-session': 'Standing permissions of programs, with tokens that last.',
  'user-registration-token': 'Invitations, with which people may register themselves.',
  'upstream-oauth-link': 'Identities that accounts have at sign-in providers.',
  'upstream-oauth-provider': 'The sign-in providers of the configuration.',
  'policy-data': 'Data that the policy consults, in addition to `policy.data` of the configuration.',
  job: 'Background work that is not done.',
} as const;

/** All operations of the API. */
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
