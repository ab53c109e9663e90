/** What the service is and what it allows (operations 4.3). */

import { z } from 'zod';
import { isRecoveryOpen } from '#domain/account-changes/is-recovery-open.ts';
import { json } from '#platform/http/response.ts';
import type { Operation } from '../definition/operation.ts';

const version = z.object({ version: z.string().describe('Version as `MAJOR.MINOR.PATCH`.') });

const siteConfig = z.object({
  server_name: z.string().describe('Server name of the homeserver, after the colon in user IDs.'),
  password_login_enabled: z.boolean().describe('Whether users can sign in with passwords.'),
  password_registration_enabled: z.boolean().describe('Whether users may register with a password.'),
  password_registration_email_required: z.boolean().describe('Whether registration requires an email address.'),
  password_registration_token_required: z.boolean().describe('Whether registration requires a registration token.'),
  registration_token_required: z
    .boolean()
    .meta({ deprecated: true, description: 'Deprecated alias of `password_registration_token_required`.' }),
  email_change_allowed: z.boolean().describe('Whether users may add and remove email addresses.'),
  displayname_change_allowed: z.boolean().describe('Whether users may change their display name.'),
  password_change_allowed: z.boolean().describe('Whether users may change their password.'),
  account_recovery_allowed: z.boolean().describe('Whether users may reset their password by email.'),
  account_deactivation_allowed: z.boolean().describe('Whether users may deactivate their own account.'),
  captcha_enabled: z.boolean().describe('Whether registration requires solving a CAPTCHA.'),
  minimum_password_complexity: z.int().min(0).max(4).describe('Minimum zxcvbn score of a password, 0 to 4.'),
});

export const serverOperations: readonly Operation[] = [
  {
    id: 'siteConfig',
    method: 'GET',
    path: 'site-config',
    tag: 'server',
    summary: 'Gets the site configuration',
    description: 'Returns the features that the configuration makes available to users, for pages and tools.',
    answers: [{ status: 200, schema: siteConfig, description: 'The settings.' }],
    errors: [],
    run: async ({ core: { config } }) => {
      const { account, homeserver, passwords } = config;
      const isRegistrationOpen = passwords.enabled && account.passwordRegistrationEnabled;
      const body: z.input<typeof siteConfig> = {
        server_name: homeserver.homeserver,
        password_login_enabled: passwords.enabled,
        password_registration_enabled: isRegistrationOpen,
        password_registration_email_required: account.passwordRegistrationEmailRequired,
        password_registration_token_required: account.passwordRegistrationTokenRequired,
        registration_token_required: account.passwordRegistrationTokenRequired,
        email_change_allowed: account.emailChangeAllowed,
        displayname_change_allowed: account.displayNameChangeAllowed,
        password_change_allowed: passwords.enabled && account.passwordChangeAllowed,
        account_recovery_allowed: isRecoveryOpen(config),
        account_deactivation_allowed: account.deactivationAllowed,
        captcha_enabled: config.captcha !== undefined,
        minimum_password_complexity: passwords.minimumComplexity,
      };
      return json(200, body);
    },
  },
  {
    id: 'version',
    method: 'GET',
    path: 'version',
    tag: 'server',
    summary: 'Gets the version of the service',
    description: 'Returns the version of the program that answers.',
    answers: [{ status: 200, schema: version, description: 'The version.' }],
    errors: [],
    run: async ({ core }) => json(200, { version: core.process.version }),
  },
];
