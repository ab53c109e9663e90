import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { runCommand } from './run-command.test-support.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'latchkey-generate-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

/** Generates a configuration from Synapse settings and loads it. */
async function generated(settings: object, further: object = {}) {
  const [file, more, output] = ['homeserver.yaml', 'more.yaml', 'latchkey.yaml'].map((name) => join(directory, name));
  writeFileSync(`${file}`, stringify({ server_name: 'old.example', ...settings }));
  writeFileSync(`${more}`, stringify(further));
  const words = ['--synapse-config', 'homeserver.yaml', '--synapse-config', 'more.yaml', '-o', `${output}`, '--force'];
  const { exitCode, err } = await runCommand(['config', 'generate', ...words], { workingDirectory: directory });
  expect([exitCode, err.includes('internal')]).toEqual([0, false]);
  const check = await runCommand(['config', 'check', '-c', `${output}`], { workingDirectory: directory });
  expect([check.exitCode, check.err.split('\n').filter((line) => !line.includes('warning'))]).toEqual([0, ['']]);
  const values = parse(readFileSync(`${output}`, 'utf8'));
  return { values, warnings: err.split('\n').map((line) => line.replace(/^latchkey: warning: /, '')) };
}

const provider = (changes: object = {}) => ({
  oidc_providers: [{ idp_id: 'sso', idp_name: 'Work', issuer: 'https://sso.example', client_id: 'chat', ...changes }],
});

describe('config generate --synapse-config', () => {
  test('imports names, passwords and switches; of several files the last wins', async () => {
    const { values, warnings } = await generated(
      {
        public_baseurl: 'https://matrix.old.example/',
        password_config: { enabled: true, pepper: 'p' },
        bcrypt_rounds: 10,
        enable_registration: true,
        registration_requires_token: true,
      },
      { enable_3pid_changes: false, enable_set_displayname: false, enable_registration: false },
    );
    expect(values).toMatchObject({
      protocol_name: 'matrix',
      homeserver: { kind: 'synapse', homeserver: 'old.example', endpoint: 'https://matrix.old.example/' },
      passwords: {
        enabled: true,
        schemes: [
          { version: 1, algorithm: 'bcrypt', cost: 10, unicode_normalization: true, secret: 'p' },
          { version: 2, algorithm: 'argon2id' },
        ],
      },
      account: {
        email_change_allowed: false,
        displayname_change_allowed: false,
        password_registration_enabled: false,
        password_registration_token_required: true,
      },
    });
    expect(values.homeserver.secret).toMatch(/^\w{32}$/);
    expect(warnings.filter((line) => line !== '')).toEqual([expect.stringContaining('http.public_base')]);
  });

  test('imports a provider with its claims, under its Synapse name', async () => {
    writeFileSync(join(directory, 'client-secret'), 'hidden\n');
    const { values, warnings } = await generated(
      provider({
        idp_brand: 'gitlab',
        client_secret_path: 'client-secret',
        client_auth_method: 'client_secret_post',
        scopes: ['openid', 'profile'],
        pkce_method: 'always',
        user_profile_method: 'userinfo_endpoint',
        backchannel_logout_enabled: true,
        enable_registration: false,
        allow_existing_users: true,
        passthrough_authorization_parameters: ['login_hint'],
        user_mapping_provider: {
          config: {
            subject_claim: 'id',
            localpart_template: '{{ user.preferred_username }}',
            display_name_template: '{{ user.name }}',
            email_template: '{{ user.email }}',
          },
        },
      }),
    );
    expect(values.upstream_oauth2.providers).toEqual([
      {
        id: expect.stringMatching(/^[0-9A-Z]{26}$/),
        synapse_idp_id: 'oidc-sso',
        human_name: 'Work',
        brand_name: 'gitlab',
        issuer: 'https://sso.example',
        client_id: 'chat',
        client_secret: 'hidden',
        token_endpoint_auth_method: 'client_secret_post',
        scope: 'openid profile',
        pkce_method: 'always',
        fetch_userinfo: true,
        on_backchannel_logout: 'logout_all',
        registration_enabled: false,
        additional_authorization_parameters: { login_hint: '{{ params.login_hint }}' },
        claims_imports: {
          subject: { template: '{{ user.id }}' },
          localpart: { action: 'require', template: '{{ user.preferred_username }}', on_conflict: 'add' },
          displayname: { action: 'suggest', template: '{{ user.name }}' },
          email: { action: 'suggest', template: '{{ user.email }}' },
        },
      },
    ]);
    expect(warnings[0]).toContain('allow_existing_users');
    expect(warnings[1]).toMatch(/<public_base>\/upstream\/callback\/[0-9A-Z]{26}$/);
  });

  test('reads the legacy single provider, with endpoints instead of discovery', async () => {
    const endpoints = {
      authorization_endpoint: 'https://sso.example/authorize',
      token_endpoint: 'https://sso.example/token',
      userinfo_endpoint: 'https://sso.example/me',
    };
    const { values } = await generated({
      oidc_config: {
        ...{ enabled: true, discover: false, issuer: 'https://sso.example', client_id: 'x', scopes: ['read'] },
        ...endpoints,
      },
    });
    expect(values.upstream_oauth2.providers).toMatchObject([
      { synapse_idp_id: 'oidc', discovery_mode: 'disabled', scope: 'read', fetch_userinfo: true, ...endpoints },
    ]);
  });

  test.each([
    ['client_secret_jwt_key', provider({ client_secret_jwt_key: { key: 'k', jwt_header: {} } })],
    ['client_auth_method tls_client_auth', provider({ client_auth_method: 'tls_client_auth', client_secret: 'x' })],
    ['idp_icon', provider({ idp_icon: 'mxc://old.example/icon' })],
    ['idp_brand', provider({ idp_brand: 'Brand of Ours' })],
    ['attribute_requirements', provider({ attribute_requirements: [{ attribute: 'a', value: 'b' }] })],
    ['additional_authorization_parameters', provider({ additional_authorization_parameters: { x: '{{ broken' } })],
    ['picture_template', provider({ user_mapping_provider: { config: { picture_template: '{{ user.picture }}' } } })],
    ['localpart_template', provider({ user_mapping_provider: { config: { localpart_template: '{{ user.' } } })],
    [
      'user_mapping_provider own.Mapping',
      provider({ user_mapping_provider: { module: 'own.Mapping', config: { a: 1 } } }),
    ],
    ['allow_existing_users', provider({ allow_existing_users: true })],
    ['reCAPTCHA', { enable_registration_captcha: true, recaptcha_public_key: 'x' }],
    ['registrations_require_3pid', { registrations_require_3pid: ['email'] }],
    ['user_consent', { user_consent: { version: 1 } }],
    ['allow_guest_access', { allow_guest_access: true }],
    ['session_lifetime', { session_lifetime: '24h' }],
    ['CAS', { cas_config: { enabled: true } }],
    ['SAML', { saml2_config: { enabled: true } }],
    ['email', { email: { smtp_host: 'mail.example' } }],
    ['public_baseurl', {}],
    ['only_for_reauth', { password_config: { enabled: 'only_for_reauth' } }],
  ])('warns of %s and writes a valid configuration', async (word, settings) => {
    const { warnings } = await generated(settings);
    expect(warnings.filter((line) => line.includes(word)).length).toBeGreaterThan(0);
  });

  test('imports the reCAPTCHA settings of registration with keys, unless disabled', async () => {
    const keys = { recaptcha_public_key: 'x', recaptcha_private_key: 'y' };
    const { values, warnings } = await generated({ enable_registration_captcha: true, ...keys });
    expect(values.captcha).toEqual({ service: 'recaptcha_v2', site_key: 'x', secret_key: 'y' });
    expect(warnings.join()).not.toContain('CAPTCHA');
    expect((await generated(keys)).values).not.toHaveProperty('captcha');
  });

  test('rejects --client, and a missing file is exit 1', async () => {
    const both = await runCommand(['config', 'generate', '--client', '--synapse-config', 'x'], {
      workingDirectory: directory,
    });
    expect(both.exitCode).toBe(2);
    const missing = await runCommand(['config', 'generate', '--synapse-config', 'absent.yaml'], {
      workingDirectory: directory,
    });
    expect([missing.exitCode, missing.out]).toEqual([1, '']);
  });
});
