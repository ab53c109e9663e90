/**
 * Who calls the token, revocation and introspection endpoints (oauth.md 5). Good credentials of a client in the cache
 * cost no query; unknown clients cost the same work as wrong secrets and read the same.
 */
import type { Clock } from '#base/clock.ts';
import { LatchkeyError } from '#base/errors.ts';
import { type ClientId, parseId } from '#base/ids.ts';
import type { Log } from '#base/log.ts';
import { Secret } from '#base/secret.ts';
import type { Queryable } from '#db/database.ts';
import type { Client } from '#domain/clients/client.ts';
import type { ClientDirectory } from '#domain/clients/client-directory.ts';
import { addressKey } from '#domain/rate-limits/bucket-keys.ts';
import type { Limiter } from '#domain/rate-limits/limiter.ts';
import { countFailure } from '#domain/rate-limits/rate-limits.ts';
import { type PresentedCredentials, presentedCredentials } from '#protocol/oauth/client-credentials-presented.ts';
import type { Parameters } from '#protocol/parameters.ts';
import type { RequestContext } from './request-context.ts';

export interface ClientAuthenticationDeps {
  readonly clients: ClientDirectory;
  readonly database: Queryable;
  readonly clock: Clock;
  readonly log: Log;
  /** Failures of one client from one address. */
  readonly limiter: Limiter;
  readonly issuer: string;
}

/** Credentials that can be compared with what a client is registered with. */
type Verifiable = Extract<PresentedCredentials, { method: 'client_secret_basic' | 'client_secret_post' | 'none' }>;

type Attempt =
  | { readonly ok: true; readonly client: Client }
  | { readonly ok: false; readonly reason: 'unknown_client' | 'wrong_auth_method' | 'bad_client_secret' };

const MAX_SHUT_KEYS = 10_000;
const NO_SECRET = new Secret('');
const NO_CREDENTIALS = 'Authenticate the client with the method that it is registered for.';
const REFUSED = 'The client is unknown, or its credentials or their method are not those it is registered with.';

export class ClientAuthentication {
  readonly #deps: ClientAuthenticationDeps;
  /** Until when (milliseconds since the epoch) a key answers 429 without any work, as the database said. */
  readonly #shutUntil = new Map<string, number>();

  constructor(deps: ClientAuthenticationDeps) {
    this.#deps = deps;
  }

  /**
   * The client that a request proves to come from; it becomes the requester.
   * @throws LatchkeyError `invalid_client`, `invalid_request` for contradictory credentials, `rate_limited`
   */
  async authenticate(context: RequestContext, form: Parameters): Promise<Client> {
    const presented = presentedCredentials(context.headers.authorization, form);
    switch (presented.method) {
      case 'ambiguous':
        throw new LatchkeyError('invalid_request', { description: presented.description });
      case 'absent':
      case 'assertion':
        throw this.#refusal(NO_CREDENTIALS);
      default:
        return await this.#verifyLimited(context, presented);
    }
  }

  /**
   * Runs `work` for the authenticated client. When a statement of the work finds the cached record out of date, the
   * record is read anew, the credentials are checked against it, and the work is done once more.
   */
  async act<T>(
    context: RequestContext,
    form: Parameters,
    work: (client: Client) => Promise<T | 'client-changed'>,
  ): Promise<T> {
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      const client = await this.authenticate(context, form);
      const outcome = await work(client);
      if (outcome !== 'client-changed') return outcome;
      this.#deps.clients.forget(client.id);
    }
    throw this.#refusal(REFUSED);
  }

  async #verifyLimited(context: RequestContext, presented: Verifiable): Promise<Client> {
    const { clock, database, limiter, log } = this.#deps;
    const shutFor = this.#shutUntil.size === 0 ? 0 : this.#secondsShut(failureKey(context, presented));
    if (shutFor > 0) {
      log.info('auth.refused', 'client authentication refused', {
        reason: 'rate_limited',
        client: claimedId(presented),
      });
      throw this.#limited(shutFor);
    }
    const attempt = await this.#verify(presented);
    if (attempt.ok) {
      context.setRequester({ kind: 'oauth2-client', id: attempt.client.id });
      return attempt.client;
    }
    const key = failureKey(context, presented);
    log.info('auth.refused', 'client authentication refused', {
      reason: attempt.reason,
      client: claimedId(presented),
    });
    const seconds = await countFailure(database, clock, { key, limiter });
    if (seconds > 0) this.#shut(key, seconds);
    throw this.#refusal(REFUSED);
  }

  async #verify(presented: Verifiable): Promise<Attempt> {
    const candidates =
      presented.method === 'client_secret_basic'
        ? presented.candidates
        : [{ clientId: presented.clientId, secret: presented.method === 'none' ? '' : presented.secret }];
    let refused: Attempt = { ok: false, reason: 'unknown_client' };
    for (const { clientId, secret } of candidates) {
      const id = parseId<'client'>(clientId);
      const client = id === undefined ? undefined : await this.#deps.clients.find(id);
      // Compared also without a client, so that the time tells nothing.
      const fits = (client?.secret ?? NO_SECRET).matches(secret);
      if (client === undefined) continue;
      if (client.authMethod !== presented.method) refused = { ok: false, reason: 'wrong_auth_method' };
      else if (!fits || (client.secret === undefined && client.authMethod !== 'none'))
        refused = { ok: false, reason: 'bad_client_secret' };
      else return { ok: true, client };
    }
    return refused;
  }

  #secondsShut(key: string): number {
    const until = this.#shutUntil.get(key);
    if (until === undefined) return 0;
    const seconds = (until - this.#deps.clock.now()) / 1000;
    if (seconds <= 0) this.#shutUntil.delete(key);
    return seconds;
  }

  #shut(key: string, seconds: number): void {
    this.#shutUntil.set(key, this.#deps.clock.now() + seconds * 1000);
    if (this.#shutUntil.size <= MAX_SHUT_KEYS) return;
    const oldest = this.#shutUntil.keys().next();
    if (oldest.done !== true) this.#shutUntil.delete(oldest.value);
  }

  #limited(seconds: number): LatchkeyError {
    return new LatchkeyError('rate_limited', {
      description: 'Too many failed authentications of this client.',
      retryAfterSeconds: Math.ceil(seconds),
    });
  }

  /** RFC 6749 5.2 asks for the challenge where the header was used; it does no harm elsewhere. */
  #refusal(description: string): LatchkeyError {
    return new LatchkeyError('invalid_client', {
      description,
      headers: { 'www-authenticate': `Basic realm="${this.#deps.issuer}"` },
    });
  }
}

/** What failures of a client from one address are counted by. */
function failureKey(context: RequestContext, presented: Verifiable): string {
  return `client_authentication:${claimedId(presented) ?? 'malformed'}:${addressKey(context.clientAddress)}`;
}

/** The client that the credentials name; undefined when it cannot be an id of ours. */
function claimedId(presented: Verifiable): ClientId | undefined {
  const text = presented.method === 'client_secret_basic' ? presented.candidates[0]?.clientId : presented.clientId;
  return text === undefined ? undefined : parseId<'client'>(text);
}
