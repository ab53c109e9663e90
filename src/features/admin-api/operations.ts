import type { Operation } from './definition/operation.ts';
import { auditEventOperations } from './operations/audit-events.ts';
import { bulkOperations } from './operations/bulk.ts';
import { clientChangeOperations } from './operations/client-changes.ts';
import { clientConnectionOperations } from './operations/client-connections.ts';
import { clientPresetOperations } from './operations/client-presets.ts';
import { clientOperations } from './operations/clients.ts';
import { configurationOperations } from './operations/configuration.ts';
import { groupOperations } from './operations/groups.ts';
import { healthOperations } from './operations/health.ts';
import { jobOperations } from './operations/jobs.ts';
import { personalSessionOperations } from './operations/personal-sessions.ts';
import { policyDataOperations } from './operations/policy-data.ts';
import { recoveryLinkOperations } from './operations/recovery-links.ts';
import { registrationTokenOperations } from './operations/registration-tokens.ts';
import { serverOperations } from './operations/server.ts';
import { sessionOperations } from './operations/sessions.ts';
import { statisticsOperations } from './operations/statistics.ts';
import { upstreamOperations } from './operations/upstream.ts';
import { userClaimOperations } from './operations/user-claims.ts';
import { userDetailOperations } from './operations/user-details.ts';
import { userEmailOperations } from './operations/user-emails.ts';
import { userExportOperations } from './operations/user-exports.ts';
import { userPasskeyOperations } from './operations/user-passkeys.ts';
import { userSecretOperations } from './operations/user-secrets.ts';
import { userOperations } from './operations/users.ts';

/** Tags of all operations with their descriptions, in the order of the API description. */
export const TAGS = {
  server: 'The service and its site configuration.',
  user: 'Accounts with their passwords, groups and claims.',
  group: 'Groups of accounts.',
  'user-email': 'Verified email addresses of accounts.',
  'user-session': 'Browser sessions of users.',
  'oauth2-client': 'Clients, both configured and dynamically registered.',
  'client-preset': 'Settings for well-known programs.',
  'oauth2-session': 'Client sessions of users and of clients themselves, with their tokens.',
  'compat-session': 'Sessions of chat clients that signed in through the routes of the homeserver.',
  'personal-session': 'Long-lived sessions of programs, with personal tokens.',
  'user-registration-token': 'Registration tokens.',
  'upstream-oauth-link': 'Identities of accounts at sign-in providers.',
  'upstream-oauth-provider': 'Configured sign-in providers.',
  'audit-event': 'Security events of all accounts, and changes by administrators.',
  statistics: 'Numbers of objects, and how figures developed.',
  'policy-data': 'Policy data, in addition to `policy.data` of the configuration.',
  job: 'Background jobs that are not completed.',
} as const;

/** All operations of the API. */
export const OPERATIONS: readonly Operation[] = [
  ...serverOperations,
  ...configurationOperations,
  ...healthOperations,
  ...userOperations,
  ...userDetailOperations,
  ...userPasskeyOperations,
  ...userExportOperations,
  ...recoveryLinkOperations,
  ...bulkOperations,
  ...userSecretOperations,
  ...userClaimOperations,
  ...groupOperations,
  ...userEmailOperations,
  ...sessionOperations,
  ...personalSessionOperations,
  ...registrationTokenOperations,
  ...clientOperations,
  ...clientChangeOperations,
  ...clientConnectionOperations,
  ...clientPresetOperations,
  ...upstreamOperations,
  ...auditEventOperations,
  ...statisticsOperations,
  ...policyDataOperations,
  ...jobOperations,
];
