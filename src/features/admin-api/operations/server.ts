/** What the service is and what it allows (operations 4.3). */
import { z } from 'zod';
import { json } from '#platform/http/response.ts';
import type { Operation } from '../definition/operation.ts';

const version = z.object({ version: z.string().describe('Three numbers with dots between them.') });

const siteConfig = z.object({
  server_name: z.string().describe('The name of the homeserver, behind the colon of the ids of people.'),
  password_login_enabled: z.boolean().describe('Whether people sign in with passwords.'),
  password_registration_enabled: z.boolean().describe('Whether people may register themselves with a password.'),
  password_registration_email_required: z.boolean().describe('Whether who registers needs an e-mail address.'),
  password_registration_token_required: z.boolean().describe('Whether who registers needs a registration token.'),
  registration_token_required: z
    .boolean()
    .meta({ deprecated: true, description: 'The same as `password_registration_token_required`, under its old name.' }),
  email_change_allowed: z.boolean().describe('Whether people may add and remove their e-mail addresses.'),
  displayname_change_allowed: z.boolean().describe('Whether people may change the name that others see.'),
  password_change_allowed: z.boolean().describe('Whether people may change their password.'),
  account_recovery_allowed: z.boolean().describe('Whether who forgot the password gets a new one by e-mail.'),
  account_deactivation_allowed: z.boolean().describe('Whether people may deactivate their own account.'),
  captcha_enabled: z.boolean().describe('Whether who registers has to solve a captcha.'),
  minimum_password_complexity: z
    .int()
    .min(0)
    .max(4)
    .describe('How hard to guess a password has to be: 0 for any, 4 for very hard.'),
});

export const serverOperations: readonly Operation[] = [
  {
    id: 'siteConfig',
    method: 'GET',
    path: 'site-config',
    tag: 'server',
    summary: 'Says what people may do',
    description: 'What the configuration lets people do here, for pages and tools that follow it.',
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
    description: 'The version of the program that answered.',
    answers: [{ status: 200, schema: version, description: 'The version.' }],
    errors: [],
    run: async ({ core }) => json(200, { version: core.version }),
  },
];
