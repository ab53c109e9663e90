import type { Config } from '#config/config.ts';
import type { CaptchaServiceName } from '#domain/captcha/services.ts';
import { builder } from './builder.ts';
import { SITE_CONFIG, type SiteConfigModel } from './models.ts';
import { Node } from './node.ts';

const SiteConfig = builder.objectRef<SiteConfigModel>('SiteConfig');

type SessionLimit = NonNullable<Config['experimental']['sessionLimit']>;

const SessionLimitConfig = builder.objectRef<SessionLimit>('SessionLimitConfig').implement({
  description: 'Limits on the number of client sessions per user.',
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
  description: 'CAPTCHA configuration.',
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
    description: 'Null if no CAPTCHA is configured.',
    resolve: (_, __, { core }) => core.config.captcha,
  }),
  dataExportEnabled: t.boolean({
    description: 'Users may download their data.',
    resolve: (_, __, { core }) => core.config.account.dataExportEnabled,
  }),
  passkeysEnabled: t.boolean({
    description: 'Users may sign in with passkeys.',
    resolve: (_, _arguments, { core }) => core.signIn.relyingParty !== undefined,
  }),
  totpEnabled: t.boolean({
    description: 'Users may set up an authenticator app as a second factor.',
    resolve: (_, __, { core }) => core.config.account.totpEnabled,
  }),
}));

builder.objectType(SiteConfig, {
  description: 'Features available to users, and details about the operator.',
  interfaces: [Node],
  fields: (t) => ({
    serverName: t.string({
      description: 'Server name of the homeserver.',
      resolve: (_, __, { core }) => core.config.homeserver.homeserver,
    }),
    policyUri: t.field({ type: 'Url', nullable: true, resolve: (_, __, { core }) => core.config.branding.policyUri }),
    tosUri: t.field({ type: 'Url', nullable: true, resolve: (_, __, { core }) => core.config.branding.tosUri }),
    imprint: t.string({ nullable: true, resolve: (_, __, { core }) => core.config.branding.imprint }),
    emailChangeAllowed: t.boolean({ resolve: (_, __, { core }) => core.config.account.emailChangeAllowed }),
    displayNameChangeAllowed: t.boolean({ resolve: (_, __, { core }) => core.config.account.displayNameChangeAllowed }),
    profileChangeAllowed: t.boolean({
      description: 'Users may change their names and time zone.',
      resolve: (_, __, { core }) => core.config.account.profileChangeAllowed,
    }),
    languages: t.stringList({
      description: 'Installed languages (BCP 47).',
      resolve: (_, __, { browser }) => [...browser.languages],
    }),
    passwordLoginEnabled: t.boolean({ resolve: (_, __, { core }) => core.config.passwords.enabled }),
    passwordChangeAllowed: t.boolean({
      resolve: (_, __, { core }) => core.config.passwords.enabled && core.config.account.passwordChangeAllowed,
    }),
    passwordRegistrationEnabled: t.boolean({
      resolve: (_, __, { core }) => core.config.passwords.enabled && core.config.account.passwordRegistrationEnabled,
    }),
    accountDeactivationAllowed: t.boolean({
      description: 'Users may deactivate their own account.',
      resolve: (_, __, { core }) => core.config.account.deactivationAllowed,
    }),
    loginWithEmailAllowed: t.boolean({ resolve: (_, __, { core }) => core.config.account.loginWithEmailAllowed }),
    minimumPasswordComplexity: t.int({
      description: 'Minimum zxcvbn score of a new password, 0 to 4.',
      resolve: (_, __, { core }) => core.config.passwords.minimumComplexity,
    }),
    sessionLimit: t.field({
      type: SessionLimitConfig,
      nullable: true,
      resolve: (_, __, { core }) => core.config.experimental.sessionLimit,
    }),
    planManagementIframeUri: t.string({
      nullable: true,
      description: 'URL of the billing page; null if there is none.',
      resolve: (_, __, { core }) => core.config.experimental.planManagementIframeUri,
    }),
    reauthMaxAge: t.int({
      nullable: true,
      description: 'Maximum age of a sign-in for sensitive actions, in seconds; null: unlimited.',
      resolve: (_, __, { core }) => core.config.account.reauthMaxAgeSeconds,
    }),
  }),
});

builder.queryField('siteConfig', (t) => t.field({ type: SiteConfig, resolve: () => SITE_CONFIG }));
