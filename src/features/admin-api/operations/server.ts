/** What the service is and allows (operations 4.3). */
import { z } from 'zod';
import { json } from '#platform/http/response.ts';
import type { Operation } from '../definition/operation.ts';

const siteConfig = z.object({
  server_name: z.string(),
  password_login_enabled: z.boolean(),
  password_registration_enabled: z.boolean(),
  password_registration_email_required: z.boolean(),
  password_registration_token_required: z.boolean(),
  registration_token_required: z.boolean().meta({ deprecated: true }),
  email_change_allowed: z.boolean(),
  displayname_change_allowed: z.boolean(),
  password_change_allowed: z.boolean(),
  account_recovery_allowed: z.boolean(),
  account_deactivation_allowed: z.boolean(),
  captcha_enabled: z.boolean(),
  minimum_password_complexity: z.int().min(0).max(4),
});

export const serverOperations: readonly Operation[] = [
  {
    id: 'siteConfig',
    method: 'GET',
    path: 'site-config',
    tag: 'server',
    summary: 'Says what people may do',
    answers: [{ status: 200, schema: siteConfig, description: 'The settings.' }],
    errors: [],
    run: async ({ core: { config, isRecoveryOpen } }) => {
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
        account_recovery_allowed: isRecoveryOpen,
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
    summary: 'Names the version of the service',
    answers: [{ status: 200, schema: z.object({ version: z.string() }), description: 'The version.' }],
    errors: [],
    run: async ({ core }) => json(200, { version: core.version }),
  },
];
