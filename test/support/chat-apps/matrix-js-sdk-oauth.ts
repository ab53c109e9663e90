/**
 * Signs in through OAuth with an unmodified matrix-js-sdk. It discovers the provider from the homeserver, registers
 * itself, requests the unstable scopes and an ID token, and refreshes (chat-compat 18.3).
 */
import { randomBytes } from 'node:crypto';
import {
  completeAuthorizationCodeGrant,
  createClient,
  generateOidcAuthorizationUrl,
  OidcTokenRefresher,
  registerOidcClient,
} from 'matrix-js-sdk';
import type { Browser } from '../browser.ts';
import { logger } from './matrix-js-sdk.ts';
import { consent, deviceOf, type OAuthTokens, REDIRECT_URI } from './oauth-requests.ts';

export interface LibrarySignIn {
  /** Base URL of the homeserver. */
  readonly homeserver: string;
  /** A browser with a signed-in user. */
  readonly browser: Browser;
}

/** @returns the second token pair, which replaced the first */
export async function signInWithLibrary({ homeserver, browser }: LibrarySignIn): Promise<OAuthTokens> {
  return await inWindow(async () => {
    const metadata = await createClient({ baseUrl: homeserver, logger }).getAuthMetadata();
    const { issuer } = metadata;
    const clientId = await registerOidcClient(metadata, {
      clientName: 'Harbour',
      clientUri: 'https://app.example/',
      applicationType: 'web',
      redirectUris: [REDIRECT_URI],
      contacts: ['contact@app.example'],
      tosUri: 'https://app.example/terms',
      policyUri: 'https://app.example/policy',
      logoUri: 'https://app.example/logo.png',
    });
    const nonce = randomBytes(8).toString('hex');
    const redirectUri = REDIRECT_URI;
    const request = { metadata, clientId, redirectUri, homeserverUrl: homeserver, nonce };
    const { code, state } = await consent(browser, await generateOidcAuthorizationUrl(request));
    const { tokenResponse, idTokenClaims } = await completeAuthorizationCodeGrant(code, state);
    const deviceId = deviceOf(tokenResponse.scope);
    const refresher = new OidcTokenRefresher(issuer, clientId, redirectUri, deviceId, idTokenClaims);
    await refresher.oidcClientReady;
    const { accessToken, refreshToken = '' } = await refresher.doRefreshAccessToken(tokenResponse.refresh_token ?? '');
    return { clientId, deviceId, scope: tokenResponse.scope, accessToken, refreshToken };
  });
}

/** Provides the browser globals that the library depends on. */
async function inWindow<Value>(work: () => Promise<Value>): Promise<Value> {
  const stored = new Map<string, string>();
  const storage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
    removeItem: (key: string) => void stored.delete(key),
    key: (index: number) => [...stored.keys()][index] ?? null,
    get length() {
      return stored.size;
    },
  };
  const window = { sessionStorage: storage, location: new URL(REDIRECT_URI) };
  Object.defineProperty(globalThis, 'window', { configurable: true, value: window });
  Object.defineProperty(globalThis, 'localStorage', { configurable: true, value: storage });
  try {
    return await work();
  } finally {
    Reflect.deleteProperty(globalThis, 'window');
    Reflect.deleteProperty(globalThis, 'localStorage');
  }
}
