import { afterEach, expect, test } from 'vitest';
import { GraphqlClient } from '#test/support/graphql-client.ts';
import { startService, type TestService } from '#test/support/service.ts';

let service: TestService;

afterEach(async () => {
  await service.stop();
});

const QUERY = `{ siteConfig {
  serverName policyUri tosUri imprint
  captchaConfig { id service siteKey } planManagementIframeUri accountDeactivationAllowed dataExportEnabled passkeysEnabled totpEnabled
  passwordLoginEnabled passwordChangeAllowed passwordRegistrationEnabled loginWithEmailAllowed
  minimumPasswordComplexity reauthMaxAge sessionLimit { softLimit hardLimit dangerousHardLimitEviction }
} }`;

test('returns the defaults without settings, with unavailable features off (account-graphql 4.4)', async () => {
  service = await startService({ limits: { handler_timeout: '10m' } });
  expect((await new GraphqlClient(service).query(QUERY)).data).toEqual({
    siteConfig: {
      serverName: 'localhost',
      policyUri: null,
      tosUri: null,
      imprint: null,
      captchaConfig: null,
      planManagementIframeUri: null,
      accountDeactivationAllowed: true,
      dataExportEnabled: true,
      passkeysEnabled: false,
      totpEnabled: true,
      passwordLoginEnabled: true,
      passwordChangeAllowed: true,
      passwordRegistrationEnabled: false,
      loginWithEmailAllowed: false,
      minimumPasswordComplexity: 3,
      reauthMaxAge: 600,
      sessionLimit: null,
    },
  });
});

test('returns the configured values', async () => {
  service = await startService({
    limits: { handler_timeout: '10m' },
    passwords: { minimum_complexity: 2 },
    account: {
      password_change_allowed: false,
      account_deactivation_allowed: false,
      login_with_email_allowed: true,
      reauth_max_age: null,
    },
    captcha: { service: 'hcaptcha', site_key: 'site-key', secret_key: 'hush' },
    branding: {
      policy_uri: 'https://example.org/privacy',
      tos_uri: 'https://example.org/terms',
      imprint: 'The Example',
    },
    experimental: {
      session_limit: { soft_limit: 20, hard_limit: 25 },
      plan_management_iframe_uri: 'https://plans.example/manage?of=us',
    },
  });
  expect((await new GraphqlClient(service).query(QUERY)).data).toMatchObject({
    siteConfig: {
      policyUri: 'https://example.org/privacy',
      tosUri: 'https://example.org/terms',
      imprint: 'The Example',
      captchaConfig: { id: 'captcha_config', service: 'H_CAPTCHA', siteKey: 'site-key' },
      planManagementIframeUri: 'https://plans.example/manage?of=us',
      accountDeactivationAllowed: false,
      passwordChangeAllowed: false,
      loginWithEmailAllowed: true,
      minimumPasswordComplexity: 2,
      reauthMaxAge: null,
      sessionLimit: { softLimit: 20, hardLimit: 25, dangerousHardLimitEviction: false },
    },
  });
});
