import type { Client } from '#domain/clients/client.ts';
import type { Core } from '#domain/core.ts';
import { consumeOnce } from '#domain/limits/replayed-values.ts';
import type { ProofKey } from '#domain/oauth-sessions/proof-key.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import { ACCEPTED_ALGORITHMS } from '#protocol/jose/signing-algorithms.ts';
import { checkDpopProof, type DpopProof } from '#protocol/oauth/dpop-proof.ts';
import { FAPI2_ALGORITHMS } from '#protocol/oauth/fapi2.ts';

/** How long a proof is remembered. It is valid for little more than a minute (RFC 9449 11.1). */
const REMEMBERED_MS = 300_000;
const NONCE_LABEL = 'dpop-nonce';
const NONCE_LIFETIME_MS = 300_000;
/** Tolerance for clock differences between instances. */
const NONCE_AHEAD_MS = 10_000;
const MAX_NONCE_CHARACTERS = 200;

/** Verifies which keys callers prove to hold with the `DPoP` header (RFC 9449). */
export class DpopProofs {
  readonly #core: Core;
  /** When work is repeated after the client changed, it presents the same proof. */
  readonly #consumed = new WeakMap<RequestContext, Promise<void>>();

  constructor(core: Core) {
    this.#core = core;
  }

  /**
   * Verifies the proof at an endpoint that a client calls for itself. Returns undefined without a proof.
   * @param path of the endpoint, below the public base URL
   * @throws LatchkeyError `invalid_dpop_proof`, `use_dpop_nonce`
   */
  async ofRequest(context: RequestContext, path: string, client: Client): Promise<ProofKey | undefined> {
    const text = headerOf(context);
    const key = text === undefined ? undefined : await this.#verify(context, path, text, undefined, {});
    if (key === undefined || !client.isFapi2 || FAPI2_ALGORITHMS.includes(key.algorithm)) return key;
    throw refusal(`the client uses FAPI 2.0: its proofs must be signed with ${FAPI2_ALGORITHMS.join(', ')}`, {});
  }

  /** Like `ofRequest`, for token requests. Some clients must always send a proof with them. */
  async ofTokenRequest(context: RequestContext, path: string, client: Client): Promise<ProofKey | undefined> {
    const key = await this.ofRequest(context, path, client);
    if (key !== undefined || !client.hasBoundTokens) return key;
    throw refusal('the client is registered with dpop_bound_access_tokens: a DPoP proof is required', {});
  }

  /**
   * Verifies the proof at a resource, for a token presented with the `DPoP` scheme.
   * @throws LatchkeyError the same errors, as a challenge (RFC 9449 7.1)
   */
  async ofToken(context: RequestContext, path: string, accessToken: string): Promise<ProofKey> {
    const text = headerOf(context);
    if (text !== undefined) return await this.#verify(context, path, text, accessToken, challengeHeaders);
    throw refusal(
      'a token with the DPoP scheme requires a proof in the DPoP header',
      challengeHeaders('invalid_dpop_proof'),
    );
  }

  /** Adds a nonce for the next proof, if nonces are required (RFC 9449 8.2). */
  withNonce(response: HttpResponse): HttpResponse {
    return { ...response, headers: { ...response.headers, ...this.#nonceHeaders() } };
  }

  async #verify(
    context: RequestContext,
    path: string,
    text: string,
    accessToken: string | undefined,
    challenges: typeof challengeHeaders | Record<string, never>,
  ): Promise<ProofKey & { readonly algorithm: string }> {
    const { clock, config, database, log } = this.#core;
    const headersOf = (code: ProofError) => (typeof challenges === 'function' ? challenges(code) : {});
    const now = clock.now();
    const url = new URL(path, config.http.publicBase).href;
    const outcome = await checkDpopProof(text, { method: context.method, url, accessToken, now });
    if (!outcome.ok) {
      log.info('auth.refused', outcome.problem, { code: 'invalid_dpop_proof' });
      throw refusal(outcome.problem, headersOf('invalid_dpop_proof'));
    }
    const { proof } = outcome;
    if (config.oauth.dpopRequireNonce && !this.#isNonce(proof.nonce, now)) {
      throw new LatchkeyError('use_dpop_nonce', {
        description: 'the proof must contain the nonce from the DPoP-Nonce header',
        headers: { ...headersOf('use_dpop_nonce'), ...this.#nonceHeaders() },
      });
    }
    const consumeProof = async (): Promise<void> => {
      if (await consumeOnce(database, oneTime(proof, now), now)) return;
      log.info('auth.refused', 'DPoP proof replayed', { code: 'invalid_dpop_proof' });
      throw refusal('the proof was already used: create a new one for each request', headersOf('invalid_dpop_proof'));
    };
    const consume = (): Promise<void> => {
      const consumed = this.#consumed.get(context) ?? consumeProof();
      this.#consumed.set(context, consumed);
      return consumed;
    };
    return { thumbprint: proof.thumbprint, algorithm: proof.algorithm, consume };
  }

  #nonceHeaders(): Readonly<Record<string, string>> {
    const { clock, config, keyRing } = this.#core;
    if (!config.oauth.dpopRequireNonce) return {};
    return { 'dpop-nonce': keyRing.seal(NONCE_LABEL, String(clock.now())).toString('base64url') };
  }

  #isNonce(nonce: string | undefined, now: number): boolean {
    if (nonce === undefined || nonce.length > MAX_NONCE_CHARACTERS) return false;
    const madeAt = this.#core.keyRing.open(NONCE_LABEL, Buffer.from(nonce, 'base64url'));
    if (madeAt === undefined) return false;
    const age = now - Number(madeAt.toString());
    return age <= NONCE_LIFETIME_MS && age >= -NONCE_AHEAD_MS;
  }
}

type ProofError = 'invalid_dpop_proof' | 'use_dpop_nonce' | 'invalid_token';

/** RFC 9449 7.1. */
export function dpopChallenge(error?: ProofError): string {
  const algorithms = `algs="${ACCEPTED_ALGORITHMS.join(' ')}"`;
  return error === undefined ? `DPoP ${algorithms}` : `DPoP error="${error}", ${algorithms}`;
}

function challengeHeaders(error: ProofError): Readonly<Record<string, string>> {
  return { 'www-authenticate': dpopChallenge(error) };
}

function oneTime({ thumbprint, id }: DpopProof, now: number) {
  return { kind: 'dpop-proof', owner: thumbprint, value: id, expiresAt: now + REMEMBERED_MS } as const;
}

function refusal(description: string, headers: Readonly<Record<string, string>>): LatchkeyError {
  return new LatchkeyError('invalid_dpop_proof', { description, headers });
}

/** Repeated headers arrive joined by commas. A proof never contains a comma. */
function headerOf({ headers }: RequestContext): string | undefined {
  const { dpop } = headers;
  return Array.isArray(dpop) ? dpop.join(', ') : dpop;
}
