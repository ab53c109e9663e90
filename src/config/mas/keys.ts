/**
 * All keys of Matrix Authentication Service, and what Latchkey makes of each. The reference page is generated from this
 * list, and a test tries every key.
 */
import { apple, client, provider, redirectUris, withEntry } from './clients.ts';
import { assetsPath, bind, listeners, movedToGraphql, resources } from './listeners.ts';
import type { KeyRule, KeyRules, Translate } from './translation.ts';
import { clamped, isTrue, maskedNetwork, normalizedUrl, shipped, textAt, textOf, withoutKeys } from './values.ts';

export interface MasKey {
  /** With `[]` for positions in lists. */
  readonly key: string;
  /** What differs, for the reference; undefined: nothing. */
  readonly says?: string;
  readonly rule: KeyRule;
}

function same(section: string, ...names: readonly string[]): MasKey[] {
  return names.map((name) => ({ key: section === '' ? name : `${section}.${name}`, rule: {} }));
}

function changed(key: string, rule: KeyRule, says: string): MasKey {
  return { key, rule, says };
}

const MATCHER_KEYS = ['', '.literals', '.prefixes', '.suffixes', '.substrings', '.regexes'];

function matchers(...keys: readonly string[]): MasKey[] {
  return keys.flatMap((key) => MATCHER_KEYS.map((name) => ({ key: `policy.data.${key}${name}`, rule: {} })));
}

function limiters(...keys: readonly string[]): MasKey[] {
  return keys.flatMap((key) =>
    ['', '.burst', '.per_second'].map((name) => ({ key: `rate_limiting.${key}${name}`, rule: {} })),
  );
}

const POLICY_PAGE = 'docs/guides/policy-module.md';
const APPEARANCE_PAGE = 'docs/guides/appearance.md';

const ENTRYPOINTS = ['client_registration', 'register', 'authorization_grant', 'compat_login', 'password', 'email'];

const WASM_REFUSAL = `Latchkey does not run WebAssembly policies. Rewrite the rules as a policy module (${POLICY_PAGE}), or remove the key if this is the policy of MAS itself`;

function entrypoint(name: string): Translate {
  return (value, { note }) => {
    if (textOf(value) !== `${name}/violation`) note('refusal', WASM_REFUSAL);
    return undefined;
  };
}

function templateRefusal(what: string): string {
  return `Latchkey cannot use ${what} of MAS. Rewrite them (${APPEARANCE_PAGE}), or remove the key if they are unchanged`;
}

const SHIPPED = 'Left out if it is the place where MAS ships its own; otherwise refused.';

/** Only bcrypt has a cost. */
const scheme: Translate = (value, { note }) => {
  if (value.kind !== 'mapping' || !value.entries.has('cost') || textAt(value, ['algorithm']) === 'bcrypt') return value;
  note('warning', '"cost" is ignored, because only "bcrypt" has one');
  return withoutKeys(value, ['cost']);
};

/** Without passwords, MAS does not check the schemes, and Latchkey needs at least one. */
const passwords: Translate = (value) => {
  if (value.kind !== 'mapping') return value;
  const schemes = value.entries.get('schemes')?.value;
  return schemes?.kind === 'list' && schemes.items.length === 0 ? withoutKeys(value, ['schemes']) : value;
};

const OLD_TOKEN_KEY = 'registration_token_required';
const TOKEN_KEY = 'password_registration_token_required';

/** Either spelling counts. */
const account: Translate = (value, { note }) => {
  if (value.kind !== 'mapping' || !value.entries.has(OLD_TOKEN_KEY)) return value;
  const old = value.entries.get(OLD_TOKEN_KEY)?.value;
  const rest = withoutKeys(value, [OLD_TOKEN_KEY]);
  note('change', `"${OLD_TOKEN_KEY}" is the former name of "${TOKEN_KEY}"`);
  if (isTrue(rest.entries.get(TOKEN_KEY)?.value) || old === undefined) return rest;
  if (!isTrue(old) && rest.entries.has(TOKEN_KEY)) return rest;
  return withEntry(withoutKeys(rest, [TOKEN_KEY]), TOKEN_KEY, old.kind === 'scalar' ? old.value : old.kind);
};

const SMTP_KEYS = ['mode', 'hostname', 'port', 'username', 'password', 'password_file'];
const UNUSED_EMAIL_KEYS: ReadonlyMap<string, readonly string[]> = new Map([
  ['blackhole', [...SMTP_KEYS, 'command']],
  ['smtp', ['command']],
  ['sendmail', SMTP_KEYS],
]);

/** Keys that the transport does not use have no effect in MAS; Latchkey refuses them. */
const email: Translate = (value, { note }) => {
  if (value.kind !== 'mapping') return value;
  const unused = UNUSED_EMAIL_KEYS.get(textAt(value, ['transport']) ?? 'blackhole') ?? [];
  const found = unused.filter((name) => value.entries.has(name));
  if (found.length === 0) return value;
  note('warning', `${found.map((name) => `"${name}"`).join(', ')}: ignored, because the transport does not use it`);
  return withoutKeys(value, found);
};

const captcha: Translate = (value, { note }) => {
  if (value.kind !== 'mapping' || value.entries.has('service')) return value;
  if (value.entries.size > 0) note('change', 'the keys are left out, because no "service" is set');
  return undefined;
};

const keysDirectory: Translate = (value, { note, document }) => {
  const secrets = document.entries.get('secrets')?.value;
  if (secrets?.kind === 'mapping' && secrets.entries.has('keys')) {
    note('warning', 'MAS prefers these keys to "secrets.keys" for signing; Latchkey prefers "secrets.keys"');
  }
  return value;
};

const iframeUri: Translate = (value, { note }) => {
  if (/^https?:\/\//i.test(textOf(value) ?? '')) return value;
  note('warning', 'ignored: Latchkey accepts an http or https URL only');
  return undefined;
};

const PROVIDER_KEYS = [
  ...['enabled', 'id', 'synapse_idp_id', 'issuer', 'human_name', 'brand_name', 'client_id', 'client_secret'],
  ...['client_secret_file', 'token_endpoint_auth_method', 'token_endpoint_auth_signing_alg'],
  ...['id_token_signed_response_alg', 'scope', 'discovery_mode', 'pkce_method', 'fetch_userinfo'],
  ...['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri', 'response_mode'],
  ...['additional_authorization_parameters', 'forward_login_hint', 'on_backchannel_logout'],
  ...['sign_in_with_apple.team_id', 'sign_in_with_apple.key_id', 'sign_in_with_apple.private_key'],
  ...['sign_in_with_apple.private_key_file', 'claims_imports', 'claims_imports.subject'],
  ...['claims_imports.subject.template', 'claims_imports.localpart', 'claims_imports.localpart.action'],
  ...['claims_imports.localpart.template', 'claims_imports.localpart.on_conflict', 'claims_imports.displayname'],
  ...['claims_imports.displayname.action', 'claims_imports.displayname.template', 'claims_imports.email'],
  ...['claims_imports.email.action', 'claims_imports.email.template', 'claims_imports.account_name'],
  ...['claims_imports.account_name.template', 'claims_imports.skip_confirmation'],
  // A key of former versions.
  'claims_imports.email.set_email_verification',
];

export const MAS_KEYS: readonly MasKey[] = [
  ...same('', 'http'),
  changed('http.public_base', { translate: normalizedUrl }, 'Written as MAS publishes it: with `/` for an empty path.'),
  changed('http.issuer', { translate: normalizedUrl }, 'Written as MAS publishes it. Default: `http.public_base`.'),
  ...same('http', 'trusted_proxies'),
  changed('http.trusted_proxies[]', { translate: maskedNetwork }, 'Host bits are removed.'),
  changed('http.listeners', { finish: listeners }, 'Listeners without a resource are left out. Missing: those of MAS.'),
  ...same('http.listeners[]', 'name', 'prefix', 'proxy_protocol', 'binds'),
  changed('http.listeners[].resources', { finish: resources }, '`prometheus` only if metrics are exported to it.'),
  ...same('http.listeners[].resources[]', 'name'),
  changed(
    'http.listeners[].resources[].playground',
    { translate: movedToGraphql('playground') },
    'Becomes `graphql.playground`.',
  ),
  changed(
    'http.listeners[].resources[].undocumented_oauth2_access',
    { name: 'oauth2_access', translate: movedToGraphql('oauth2_access') },
    'Becomes `graphql.oauth2_access`.',
  ),
  changed('http.listeners[].resources[].path', { translate: assetsPath }, 'Left out: Latchkey has its own assets.'),
  changed('http.listeners[].binds[]', { finish: bind }, 'The form that MAS would use is kept.'),
  ...same('http.listeners[].binds[]', 'host', 'port', 'address', 'socket', 'mode', 'fd', 'kind'),
  ...same('http.listeners[]', 'tls', 'tls.certificate', 'tls.certificate_file', 'tls.key', 'tls.key_file'),
  ...same('http.listeners[]', 'tls.password', 'tls.password_file'),

  ...same('', 'database'),
  ...same('database', 'uri', 'host', 'port', 'socket', 'username', 'password', 'password_file', 'database'),
  ...same('database', 'ssl_mode', 'ssl_ca', 'ssl_ca_file', 'ssl_certificate', 'ssl_certificate_file'),
  ...same('database', 'ssl_key', 'ssl_key_file', 'max_connections', 'min_connections', 'idle_timeout', 'max_lifetime'),
  changed(
    'database.connect_timeout',
    {},
    'Maximum wait for the server at start. The wait for a pooled connection is `database.acquire_timeout`, 5 s.',
  ),

  changed('matrix', { name: 'homeserver' }, 'Becomes the section `homeserver`, with `protocol_name: matrix`.'),
  ...same('matrix', 'kind', 'homeserver', 'endpoint', 'secret', 'secret_file'),

  ...same('', 'secrets'),
  ...same('secrets', 'encryption', 'encryption_file', 'keys', 'keys[].kid', 'keys[].key', 'keys[].key_file'),
  ...same('secrets', 'keys[].password', 'keys[].password_file'),
  changed(
    'secrets.keys_dir',
    { translate: keysDirectory },
    'Used after `secrets.keys`, in the order of names; in MAS before them, in the order of the directory. All keys are ' +
      'published in both. `NAME.next.pem` and `NAME.old.pem` do not sign, and `*.pub`, `*.tmp`, `*~` and hidden files are ' +
      'ignored.',
  ),

  ...same('', 'clients'),
  changed('clients[]', { finish: client }, 'Short secrets are accepted with a warning (`allow_short_secret`).'),
  ...same('clients[]', 'client_id', 'client_auth_method', 'client_name', 'client_uri', 'client_secret'),
  ...same('clients[]', 'client_secret_file', 'jwks', 'jwks_uri'),
  changed(
    'clients[].redirect_uris',
    { translate: redirectUris },
    'A URI that the URL parser of MAS writes differently is accepted in both spellings.',
  ),

  changed('passwords', { finish: passwords }, 'An empty list of schemes is left out.'),
  ...same('passwords', 'enabled', 'minimum_complexity', 'schemes'),
  changed('passwords.schemes[]', { finish: scheme }, '`cost` is ignored unless the algorithm is bcrypt.'),
  ...same('passwords.schemes[]', 'version', 'algorithm', 'unicode_normalization', 'cost', 'secret'),
  changed(
    'passwords.schemes[].secret_file',
    { name: 'secret_bytes_file' },
    'Becomes `secret_bytes_file`: the exact bytes of the file, including a final line break.',
  ),

  changed('account', { finish: account }, 'Either spelling of `password_registration_token_required` counts.'),
  ...same('account', 'email_change_allowed', 'displayname_change_allowed', 'password_change_allowed'),
  ...same('account', 'account_deactivation_allowed', 'password_registration_enabled', 'password_recovery_enabled'),
  ...same('account', 'login_with_email_allowed', 'password_registration_email_required', TOKEN_KEY),
  changed(
    `account.${OLD_TOKEN_KEY}`,
    {},
    `Becomes \`account.${TOKEN_KEY}\`, and \`registration_token_required\` of every sign-in provider.`,
  ),

  changed('email', { finish: email }, 'Keys that the transport does not use are ignored.'),
  ...same('email', 'from', 'reply_to', 'transport', 'command', ...SMTP_KEYS),

  ...same('', 'upstream_oauth2', 'upstream_oauth2.providers'),
  changed(
    'upstream_oauth2.providers[]',
    { finish: provider },
    'Requires a registration token if `account.registration_token_required` does.',
  ),
  ...same('upstream_oauth2.providers[]', ...PROVIDER_KEYS),
  changed('upstream_oauth2.providers[].userinfo_signed_response_alg', {}, 'Ignored without `fetch_userinfo`.'),
  ...same('upstream_oauth2.providers[]', 'registration_token_required'),
  changed(
    'upstream_oauth2.providers[].sign_in_with_apple',
    { finish: apple },
    'If both are given, `private_key` is used and `private_key_file` is ignored.',
  ),

  ...same('', 'policy'),
  changed('policy.wasm_module', { translate: shipped('policy.wasm', WASM_REFUSAL) }, SHIPPED),
  ...ENTRYPOINTS.map((name) =>
    changed(
      `policy.${name}_entrypoint`,
      { translate: entrypoint(name) },
      `Left out if it is \`${name}/violation\`; otherwise refused.`,
    ),
  ),
  ...same('policy', 'data', 'data.admin_users', 'data.admin_clients', 'data.allowed_domains', 'data.banned_domains'),
  ...same('policy.data', 'client_registration', 'client_registration.allow_host_mismatch'),
  ...same('policy.data.client_registration', 'allow_insecure_uris', 'allow_missing_client_uri'),
  ...same('policy.data', 'registration', 'emails', 'requester', 'requester.banned_ips'),
  changed('policy.data.requester.banned_ips[]', { translate: maskedNetwork }, 'Host bits are removed.'),
  ...matchers('registration.allowed_usernames', 'registration.banned_usernames', 'emails.allowed_addresses'),
  ...matchers('emails.banned_addresses', 'requester.banned_user_agents'),

  ...same('', 'templates'),
  changed('templates.path', { translate: shipped('templates', templateRefusal('templates')) }, SHIPPED),
  changed('templates.assets_manifest', { translate: shipped('manifest.json', templateRefusal('the assets')) }, SHIPPED),
  changed(
    'templates.translations_path',
    { translate: shipped('translations', templateRefusal('translations')) },
    SHIPPED,
  ),

  ...same('', 'branding'),
  ...same('branding', 'service_name', 'policy_uri', 'tos_uri', 'imprint'),
  changed('captcha', { finish: captcha }, 'Left out without a service.'),
  ...same('captcha', 'service', 'site_key', 'secret_key'),
  ...same('', 'oauth', 'oauth.device_code_grant_enabled', 'oauth.device_code_user_code_auto_fill_enabled'),

  ...same('', 'experimental'),
  changed('experimental.access_token_ttl', { translate: clamped(60, 86_400) }, 'Limited to 60 to 86400 seconds.'),
  changed('experimental.compat_token_ttl', { translate: clamped(60, 86_400) }, 'Limited to 60 to 86400 seconds.'),
  ...same('experimental', 'inactive_session_expiration'),
  changed(
    'experimental.inactive_session_expiration.ttl',
    { translate: clamped(600, 7_776_000) },
    'Limited to 10 minutes to 90 days.',
  ),
  ...same('experimental.inactive_session_expiration', 'expire_compat_sessions', 'expire_oauth_sessions'),
  ...same('experimental.inactive_session_expiration', 'expire_user_sessions'),
  ...same('experimental', 'session_limit', 'session_limit.soft_limit', 'session_limit.hard_limit'),
  ...same('experimental.session_limit', 'max_session_threshold', 'dangerous_hard_limit_eviction'),
  changed('experimental.plan_management_iframe_uri', { translate: iframeUri }, 'Ignored if it is not a URL.'),

  ...same('', 'telemetry', 'telemetry.tracing', 'telemetry.metrics', 'telemetry.sentry'),
  ...same('telemetry.tracing', 'exporter', 'endpoint', 'propagators', 'sample_rate'),
  ...same('telemetry.metrics', 'exporter', 'endpoint'),
  ...same('telemetry.sentry', 'dsn', 'environment', 'sample_rate', 'traces_sample_rate'),

  ...same('', 'rate_limiting', 'rate_limiting.login', 'rate_limiting.account_recovery'),
  ...same('rate_limiting', 'email_authentication'),
  ...limiters('login.per_ip', 'login.per_account', 'registration', 'account_recovery.per_ip'),
  ...limiters('account_recovery.per_address', 'email_authentication.per_ip', 'email_authentication.per_address'),
  ...limiters('email_authentication.emails_per_session', 'email_authentication.attempt_per_session'),
];

export const MAS_RULES: KeyRules = new Map(MAS_KEYS.map(({ key, rule }) => [key, rule]));
