import { readdirSync } from 'node:fs';
import { CLIENT_ID, CLIENT_SECRET } from './relying-party.js';

/** The password of every account, long enough for the strictest rules. */
export const PASSWORD = 'plum granite lantern 47';

/** The bundled languages. */
export const LANGUAGES = readdirSync(new URL('../../locales/', import.meta.url)).map((name) => name.split('.')[0]);

/** Those apart from English, German with its long words, and Arabic, which is written from right to left. */
export const OTHER_LANGUAGES = LANGUAGES.filter((tag) => !['en', 'de', 'ar'].includes(tag));

/** A browser in which users cannot authorize a client. */
export const BANNED_USER_AGENT = 'Banned Browser/1.0';

/** URL of the plan management page, which the test mocks. */
export const PLAN = 'https://plans.harbour.example/manage';

/** A scope of a resource server: shown verbatim, without an opportunity for a line break. */
export const LONG_SCOPE = 'urn:example:a-very-long-scope-of-somebody-that-has-no-place-to-break:read';

/**
 * A configuration with everything that a page may show.
 * @param callback of the relying party
 */
export function settings(callback) {
  const plenty = { burst: 1000, per_second: 10 };
  return {
    clients: [
      {
        client_id: CLIENT_ID,
        client_auth_method: 'client_secret_basic',
        client_secret: CLIENT_SECRET,
        client_name: 'Harbour Chat',
        client_uri: 'https://app.harbour.example/',
        policy_uri: 'https://app.harbour.example/privacy',
        tos_uri: 'https://app.harbour.example/terms',
        // Nothing listens there, so the logo is an initial.
        logo_uri: 'http://127.0.0.1:1/logo.png',
        redirect_uris: [callback],
      },
    ],
    oauth: {
      resources: [{ identifier: 'https://api.harbour.example/', scopes: [LONG_SCOPE] }],
      client_id_metadata_documents: { enabled: true },
    },
    homeserver: { kind: 'none', homeserver: 'example.org' },
    account: { password_registration_enabled: true, password_recovery_enabled: true, client_logos: 'proxy' },
    policy: {
      data: { admin_users: ['amira'], requester: { banned_user_agents: { literals: [BANNED_USER_AGENT] } } },
    },
    experimental: { session_limit: { soft_limit: 2 } },
    branding: {
      service_name: 'example.org',
      policy_uri: 'https://example.org/privacy',
      tos_uri: 'https://example.org/terms',
      imprint: 'Run by the Harbour Cooperative, Quay Street 1, Example Town',
    },
    // All browsers share one address.
    limits: { work: { per_address: { burst: 0 } } },
    rate_limiting: {
      login: { per_ip: plenty, per_account: { burst: 5, per_second: 0.01 } },
      registration: plenty,
      account_recovery: { per_ip: plenty, per_address: { burst: 1, per_second: 0.0001 } },
      registration_check: plenty,
      device_authorization: { per_client: plenty },
    },
  };
}

/** The same with a homeserver. */
export function chatSettings(callback, { serverName, endpoint }, secret) {
  return { ...settings(callback), homeserver: { kind: 'synapse', homeserver: serverName, endpoint, secret } };
}

/** The same with required email addresses; the content of mails is read from the database. */
export function pageSettings(callback) {
  const open = settings(callback);
  const account = { ...open.account, password_registration_email_required: true };
  const plenty = { burst: 1000, per_second: 10 };
  const email_authentication = {
    ...{ per_ip: plenty, per_address: plenty },
    emails_per_session: { burst: 2, per_second: 0.001 },
  };
  const experimental = { ...open.experimental, plan_management_iframe_uri: PLAN };
  return { ...open, account, experimental, rate_limiting: { ...open.rate_limiting, email_authentication } };
}

/**
 * The service of `pageSettings` with a mail server.
 * @param isByInvitation accounts also need a registration token
 */
export function emailRegistrationSettings(callback, email, isByInvitation) {
  const open = pageSettings(callback);
  const account = { ...open.account, password_registration_token_required: isByInvitation };
  return { ...open, account, email };
}

/** The service of `settings` with a mail server, and limits for many changes in a short time. */
export function accountSettings(callback, email) {
  const open = settings(callback);
  const plenty = { burst: 1000, per_second: 10 };
  const email_authentication = { per_ip: plenty, per_address: plenty, emails_per_session: plenty };
  const graphql = { authenticated: plenty };
  const login = { per_ip: plenty, per_account: plenty, per_known_browser: plenty };
  return { ...open, email, rate_limiting: { ...open.rate_limiting, email_authentication, graphql, login } };
}

/** The service of `settings` without passwords: users can neither sign in nor register. */
export function closedSettings(callback) {
  const open = settings(callback);
  return {
    ...open,
    account: { password_registration_enabled: false },
    passwords: { enabled: false },
    branding: {
      service_name: 'example.org',
      login_message: 'We are moving house until Monday. Thank you for waiting!',
    },
  };
}

/** The service of `settings` with a mandatory second factor. */
export function strictSettings(callback) {
  const open = settings(callback);
  return { ...open, account: { ...open.account, second_factor: 'required' } };
}

/** The service of `settings` with the CAPTCHA of a service. */
export function captchaSettings(callback, service) {
  const captcha = { service, site_key: 'site-key', secret_key: 'secret-key', on: ['register', 'recover', 'login'] };
  return { ...settings(callback), captcha };
}

/**
 * The service of `settings` in other colors, by invitation.
 * @param brand settings of the section
 * @param templates directory
 */
export function brandedSettings(callback, brand, templates) {
  const open = settings(callback);
  const account = { ...open.account, password_registration_token_required: true };
  const brands = ['apple', 'discord', 'facebook', 'github', 'gitlab', 'google', 'keycloak', 'linkedin', 'microsoft'];
  const providers = [...brands, 'twitter', 'harbour'].map((name, index) => ({
    id: `01HZX7T3Q8V3M5N6P7R8S9T0${String(index).padStart(2, '0')}`,
    brand_name: name,
    ...(name === 'harbour' && { human_name: 'Harbour Cooperative' }),
    issuer: `https://${name}.example`,
    client_id: 'latchkey',
    token_endpoint_auth_method: 'none',
    registration_enabled: false,
  }));
  return { ...open, account, branding: brand, templates: { path: templates }, upstream_oauth2: { providers } };
}

/** The service of `upstreamSettings` with a mail server, and without terms, so that no prompt is needed. */
export function unpromptedSettings(callback, providers, email) {
  const open = upstreamSettings(callback, providers);
  const { tos_uri: _, ...branding } = open.branding;
  return { ...open, branding, email };
}

/** The service of `settings` with sign-in providers. */
export function upstreamSettings(callback, providers) {
  return { ...settings(callback), upstream_oauth2: { providers } };
}
