import type { AdminConfig } from '../config.ts';
import { sha256 } from './sha256.ts';

/** Why the area gets no access token. */
export type Refusal =
  /** The user is signed out, signed in too long ago, or signed in without the second factor. */
  | { readonly kind: 'sign-in' }
  | { readonly kind: 'second-factor-missing' }
  | { readonly kind: 'no-right' }
  | { readonly kind: 'network' }
  | { readonly kind: 'failed' };

type Outcome = { readonly ok: true; readonly token: string } | { readonly ok: false; readonly refusal: Refusal };

interface Token {
  readonly text: string;
  /** By the clock of `performance.now()`. */
  readonly usableUntil: number;
}

/** Must equal the description that the server sends (`next-step.ts`). */
const SECOND_FACTOR_MISSING = 'the account must set up a second factor';
const SCOPE = 'urn:mas:admin';
/** A request that has just started must not outlive its token. */
const EARLY_MS = 30_000;

/**
 * The access token of this tab. It exists only in memory, for minutes. It is renewed when it is needed, by a silent
 * authorization request: the script follows the redirects, and reads the code in the final URL.
 */
export class AccessToken {
  readonly #config: AdminConfig;
  #token: Token | undefined;
  #pending: Promise<Outcome> | undefined;

  constructor(config: AdminConfig) {
    this.#config = config;
  }

  /** Never rejects. Several calls share one request. */
  async get(): Promise<Outcome> {
    const token = this.#token;
    if (token !== undefined && performance.now() < token.usableUntil) return { ok: true, token: token.text };
    this.#pending ??= this.#request().finally(() => {
      this.#pending = undefined;
    });
    return await this.#pending;
  }

  /** Forgets a token that the API refused. */
  drop(refused: string): void {
    if (this.#token?.text === refused) this.#token = undefined;
  }

  async #request(): Promise<Outcome> {
    try {
      return await this.#authorize();
    } catch {
      return { ok: false, refusal: { kind: 'network' } };
    }
  }

  async #authorize(): Promise<Outcome> {
    const { base, clientId, root } = this.#config;
    const redirectUri = `${location.origin}${root}callback`;
    const [verifier, state] = [randomText(), randomText()];
    const query = new URLSearchParams({
      client_id: clientId,
      response_type: 'code',
      redirect_uri: redirectUri,
      scope: SCOPE,
      prompt: 'none',
      state,
      code_challenge: base64Url(await sha256(verifier)),
      code_challenge_method: 'S256',
    });
    const landed = new URL((await fetch(`${base}authorize?${query}`, { cache: 'no-store' })).url);
    const result = landed.searchParams;
    if (landed.origin + landed.pathname !== redirectUri || result.get('state') !== state) return FAILED;
    const code = result.get('code');
    if (code === null) return { ok: false, refusal: refusalOf(result) };
    const started = performance.now();
    const response = await fetch(`${base}oauth2/token`, {
      method: 'POST',
      credentials: 'omit',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: clientId,
        redirect_uri: redirectUri,
        code,
        code_verifier: verifier,
      }),
    });
    if (!response.ok) return FAILED;
    const issued: { readonly access_token: string; readonly expires_in: number } = await response.json();
    this.#token = { text: issued.access_token, usableUntil: started + issued.expires_in * 1000 - EARLY_MS };
    return { ok: true, token: issued.access_token };
  }
}

const FAILED: Outcome = { ok: false, refusal: { kind: 'failed' } };

function refusalOf(response: URLSearchParams): Refusal {
  switch (response.get('error')) {
    case 'login_required':
      return {
        kind: response.get('error_description') === SECOND_FACTOR_MISSING ? 'second-factor-missing' : 'sign-in',
      };
    case 'access_denied':
      return { kind: 'no-right' };
    default:
      return { kind: 'failed' };
  }
}

function randomText(): string {
  return base64Url(crypto.getRandomValues(new Uint8Array(32)));
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
