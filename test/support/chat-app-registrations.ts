/** Registrations that published chat apps send, and their sign-in (oauth 4.4). */
import type { TestService } from './service.ts';

const VERIFIER = 'a-verifier-that-is-long-enough-for-the-rules-of-rfc-7636';
const CHALLENGE = 'r57OqpQdDZe3yEfyaOGIgm4s6vAK2te5wR13fPlg8w8';
const SCOPE = 'urn:matrix:org.matrix.msc2967.client:api:* urn:matrix:org.matrix.msc2967.client:device:';

/** What the apps for phones send: the library sets all but the URI. */
const phone = {
  application_type: 'native',
  client_name: 'Element X',
  client_uri: 'https://element.io/',
  grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
  logo_uri: 'https://element.io/mobile-icon.png',
  policy_uri: 'https://element.io/privacy',
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
  tos_uri: 'https://element.io/user-terms-of-service',
};
const web = {
  application_type: 'web',
  client_name: 'Element',
  client_uri: 'https://app.element.io/',
  grant_types: ['authorization_code', 'refresh_token'],
  id_token_signed_response_alg: 'RS256',
  logo_uri: 'https://app.element.io/vector-icons/1024.png',
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
};
export const DESKTOP = { ...web, application_type: 'native', client_uri: 'https://element.io', logo_uri: undefined };

export interface RegisteredApp {
  readonly body: object;
  readonly uri: string;
  /** What a form may lead to, and what the consent page names. */
  readonly source: string;
  readonly shown: string;
}

export const CHAT_APPS: Readonly<Record<string, RegisteredApp>> = {
  'Element Web': {
    ...{ body: web, uri: 'https://app.element.io/?no_universal_links=true' },
    ...{ source: 'https:', shown: 'app.element.io' },
  },
  'Element X on Android': {
    ...{ body: phone, uri: 'io.element.android:/' },
    ...{ source: 'io.element.android:', shown: 'io.element.android' },
  },
  'Element X on iOS, an https link of the app': {
    ...{ body: phone, uri: 'https://element.io/oidc/login' },
    ...{ source: 'https:', shown: 'element.io' },
  },
  'Element X of 2023': {
    ...{ body: phone, uri: 'io.element:/callback' },
    ...{ source: 'io.element:', shown: 'io.element' },
  },
  'a build with its own scheme': {
    ...{ body: { ...web, application_type: 'native' }, uri: 'io.element.app:/callback' },
    ...{ source: 'io.element.app:', shown: 'io.element.app' },
  },
  'Element Desktop': {
    ...{ body: DESKTOP, uri: 'io.element.desktop:/vector/webapp/?no_universal_links=true' },
    ...{ source: 'io.element.desktop:', shown: 'io.element.desktop' },
  },
  'a scheme with three slashes': {
    ...{ body: DESKTOP, uri: 'io.element.desktop:///vector/webapp/?no_universal_links=true' },
    ...{ source: 'io.element.desktop:', shown: 'io.element.desktop' },
  },
  'a scheme with a host': {
    ...{ body: DESKTOP, uri: 'io.element.desktop://vector/webapp/?no_universal_links=true' },
    ...{ source: 'io.element.desktop:', shown: 'io.element.desktop://vector' },
  },
};

type Service = Pick<TestService, 'address'>;

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export async function registerApp({ address }: Service, body: object): Promise<Answer> {
  const response = await fetch(`${address}/oauth2/registration`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

export interface AppSignIn {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly device: string;
  readonly state: string;
}

/** Returns the path that the app opens in a browser. */
export function authorizationRequest({ clientId, redirectUri, device, state }: AppSignIn): string {
  const fields = { response_type: 'code', response_mode: 'query', client_id: clientId, redirect_uri: redirectUri };
  const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256', state };
  return `/authorize?${new URLSearchParams({ ...fields, ...pkce, scope: `openid ${SCOPE}${device}` }).toString()}`;
}

export async function exchangeCode(
  { address }: Service,
  { code, clientId, redirectUri }: Pick<AppSignIn, 'clientId' | 'redirectUri'> & { readonly code: string },
): Promise<Answer> {
  const response = await fetch(`${address}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams({
      ...{ grant_type: 'authorization_code', code, redirect_uri: redirectUri },
      ...{ client_id: clientId, code_verifier: VERIFIER },
    }),
  });
  return { status: response.status, body: await response.json() };
}
