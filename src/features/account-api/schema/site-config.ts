import type { Config } from '#config/config.ts';
import type { CaptchaServiceName } from '#domain/captcha/services.ts';
import { builder } from './builder.ts';
import { SITE_CONFIG, type SiteConfigModel } from './models.ts';
import { Node } from './node.ts';

const SiteConfig = builder.objectRef<SiteConfigModel>('SiteConfig');

type SessionLimit = NonNullable<Config['experimental']['sessionLimit']>;

const SessionLimitConfig = builder.objectRef<SessionLimit>('SessionLimitConfig').implement({
  description: 'How many sessions a person may have at applications and devices.',
  fields: (t) => ({
    softLimit: t.int({ resolve: ({ softLimit, hardLimit }) => softLimit ?? hardLimit ?? 0 }),
    hardLimit: t.int({ resolve: ({ softLimit, hardLimit }) => hardLimit ?? softLimit ?? 0 }),
    dangerousHardLimitEviction: t.exposeBoolean('evictsAtHardLimit'),
  }),
});

const CaptchaService = builder.enumType('CaptchaService', {
  values: ['CLOUDFLARE_TURNSTILE', 'H_CAPTCHA', 'RECAPTCHA_V2'] as const,
});

const SERVICES: Readonly<Record<CaptchaServiceName, typeof CaptchaService.$inferType>> = {
  recaptcha_v2: 'RECAPTCHA_V2',
  cloudflare_turnstile: 'CLOUDFLARE_TURNSTILE',
  hcaptcha: 'H_CAPTCHA',
};

type CaptchaModel = NonNullable<Config['captcha']>;

const CaptchaConfig = builder.objectRef<CaptchaModel>('CaptchaConfig').implement({
  description: 'The puzzle that tells people from programs.',
  fields: (t) => ({
    id: t.id({ resolve: () => 'captcha_config' }),
    service: t.field({ type: CaptchaService, resolve: ({ service }) => SERVICES[service] }),
    siteKey: t.exposeString('siteKey'),
  }),
});

// Clients read all of these fields. Features that this service does not have are reported as off.
builder.objectFields(SiteConfig, (t) => ({
  captchaConfig: t.field({
    type: CaptchaConfig,
    nullable: true,
    description: 'Null: nobody is asked to solve one.',
    resolve: (_, __, { core }) => core.config.captcha,
  }),
  dataExportEnabled: t.boolean({
    description: 'People may take their data with them.',
    resolve: (_, __, { core }) => core.config.account.dataExportEnabled,
  }),
  passkeysEnabled: t.boolean({
    description: 'People may sign in with passkeys.',
    resolve: (_, _arguments, { core }) => core.relyingParty !== undefined,
  }),
  totpEnabled: t.boolean({
    description: 'People may set up an authenticator app as a second factor.',
    resolve: (_, __, { core }) => core.config.account.totpEnabled,
  }),
}));

builder.objectType(SiteConfig, {
  description: 'What people may do here, and who runs the service.',
  interfaces: [Node],
  fields: (t) => ({
    serverName: t.string({
      description: 'Of the chat server that the accounts are for.',
      resolve: (_, __, { core }) => core.config.homeserver.homeserver,
    }),
    policyUri: t.field({ type: 'Url', nullable: true, resolve: (_, __, { core }) => core.config.branding.policyUri }),
    tosUri: t.field({ type: 'Url', nullable: true, resolve: (_, __, { core }) => core.config.branding.tosUri }),
    imprint: t.string({ nullable: true, resolve: (_, __, { core }) => core.config.branding.imprint }),
    emailChangeAllowed: t.boolean({ resolve: (_, __, { core }) => core.config.account.emailChangeAllowed }),
    displayNameChangeAllowed: t.boolean({ resolve: (_, __, { core }) => core.config.account.displayNameChangeAllowed }),
    passwordLoginEnabled: t.boolean({ resolve: (_, __, { core }) => core.config.passwords.enabled }),
    passwordChangeAllowed: t.boolean({
      resolve: (_, __, { core }) => core.config.passwords.enabled && core.config.account.passwordChangeAllowed,
    }),
    passwordRegistrationEnabled: t.boolean({
      resolve: (_, __, { core }) => core.config.passwords.enabled && core.config.account.passwordRegistrationEnabled,
    }),
    accountDeactivationAllowed: t.boolean({
      description: 'People may delete their account here.',
      resolve: (_, __, { core }) => core.config.account.deactivationAllowed,
    }),
    loginWithEmailAllowed: t.boolean({ resolve: (_, __, { core }) => core.config.account.loginWithEmailAllowed }),
    minimumPasswordComplexity: t.int({
      description: 'The lowest score that zxcvbn may give a new password, from 0 to 4.',
      resolve: (_, __, { core }) => core.config.passwords.minimumComplexity,
    }),
    sessionLimit: t.field({
      type: SessionLimitConfig,
      nullable: true,
      resolve: (_, __, { core }) => core.config.experimental.sessionLimit,
    }),
    planManagementIframeUri: t.string({
      nullable: true,
      description: 'Where people see what they pay for; null: there is no such page.',
      resolve: (_, __, { core }) => core.config.experimental.planManagementIframeUri,
    }),
    reauthMaxAge: t.int({
      nullable: true,
      description: 'Seconds after which sensitive actions ask who one is again; null: never.',
      resolve: (_, __, { core }) => core.config.account.reauthMaxAgeSeconds,
    }),
  }),
});

builder.queryField('siteConfig', (t) => t.field({ type: SiteConfig, resolve: () => SITE_CONFIG }));
