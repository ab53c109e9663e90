/**
 * Client authentication (oauth 5). For a cached client, checking credentials takes no round trip: an assertion is
 * used up in the round trip of the request's work. Unknown clients take the same work and get the same response as
 * wrong secrets.
 */

import { acceptedSecret, type UsedSecret } from '#domain/clients/accepted-secret.ts';
import type { Client } from '#domain/clients/client.ts';
import { namedClientId } from '#domain/clients/client-names.ts';
import type { Core } from '#domain/core.ts';
import { isReplay, onceFor } from '#domain/limits/replayed-values.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { Secret } from '#platform/base/secret.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { Database, GuardedDatabase } from '#platform/postgres/database.ts';
import { isMissingReference } from '#platform/postgres/failures.ts';
import { isClientIdUrl } from '#protocol/oauth/client-id-url.ts';
import { type PresentedCredentials, presentedCredentials } from '#protocol/oauth/presented-credentials.ts';
import { uriForLog } from '#protocol/oauth/uris-in-logs.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import {
  type AssertionAudiences,
  type AssertionOutcome,
  type ClaimedAssertion,
  claimedAssertion,
  verifyAssertion,
} from './client-assertion.ts';
import type { ClientDocuments } from './client-documents.ts';

/** A secret, or none, to compare with the client's registration. */
type SecretOrNone = Extract<PresentedCredentials, { method: 'client_secret_basic' | 'client_secret_post' | 'none' }>;
type Verifiable = SecretOrNone | (ClaimedAssertion & { readonly method: 'assertion' });

type SecretRefusal = 'unknown_client' | 'wrong_auth_method' | 'bad_client_secret';

type SecretAttempt =
  | {
      readonly ok: true;
      readonly client: Client;
      readonly method: string;
      /** Undefined for public clients. */
      readonly secret: UsedSecret | undefined;
      readonly oneTime?: undefined;
    }
  | {
      readonly ok: false;
      readonly reason: SecretRefusal;
      /** Undefined if the credentials do not name a client. */
      readonly client: Client | undefined;
      readonly problem?: undefined;
    };

type Attempt = SecretAttempt | AssertionOutcome;

const NO_SECRET = new Secret('');
const NO_CREDENTIALS = 'Authenticate the client with its registered method.';
const REFUSED = 'The client is unknown, or its credentials or authentication method do not match its registration.';

export class ClientAuthentication {
  readonly #core: Core;
  readonly #audiences: AssertionAudiences;
  readonly #documents: ClientDocuments | undefined;

  /**
   * @param path of the endpoint
   * @param documents for endpoints where clients start something; adds clients that publish a metadata document
   */
  constructor(core: Core, path: string, documents?: ClientDocuments) {
    this.#core = core;
    this.#documents = documents;
    const { issuer, publicBase } = core.config.http;
    const absolute = (below: string) => publicBase.replace(/\/$/, '') + below;
    this.#audiences = { issuer, endpoints: [absolute('/oauth2/token'), absolute(path)] };
  }

  /**
   * Authenticates the request's client, sets it as the requester, and runs `work`. If one of the statements finds the
   * cached client record outdated, the record is read again, the credentials are checked against it, and the work is
   * repeated.
   * @param work must use the database that it is given, because an assertion is used up with the first statement
   * @throws LatchkeyError `invalid_client`, `invalid_request` for contradictory credentials, `rate_limited`
   */
  async act<T>(
    context: RequestContext,
    form: FormParameters,
    work: (client: Client, database: Database) => Promise<T | 'client-changed'>,
  ): Promise<T> {
    const presented = this.#presented(context, form);
    await this.#documents?.refresh(context, claimedName(presented));
    let once: GuardedDatabase | undefined;
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      const { client, method, oneTime } = await this.#verifyLimited(context, presented);
      if (oneTime !== undefined) once ??= this.#onceFor(client, oneTime);
      const isClaimed = method === 'none';
      const setRequester = () => context.setRequester({ kind: 'oauth2-client', id: client.id }, { isClaimed });
      if (once === undefined) {
        setRequester();
        context.requireWork();
      }
      const outcome = await (once === undefined
        ? work(client, this.#core.database).catch(unlessDeleted)
        : this.#workOnce(client, method, once, work).finally(() => once?.isSettled === true && setRequester()));
      if (outcome !== 'client-changed') return outcome;
      this.#core.clients.forget(client.id);
    }
    throw this.#refusal(REFUSED);
  }

  #presented(context: RequestContext, form: FormParameters): Verifiable {
    const presented = presentedCredentials(context.headers.authorization, form);
    switch (presented.method) {
      case 'ambiguous':
        throw new LatchkeyError('invalid_request', { description: presented.description });
      case 'absent':
        this.#core.log.info('auth.refused', 'client authentication refused', { code: 'missing_credentials' });
        throw this.#refusal(NO_CREDENTIALS);
      case 'assertion':
        return { method: 'assertion', ...claimedAssertion(presented.assertion, presented.clientId) };
      default:
        return presented;
    }
  }

  #onceFor(client: Client, { id, expiresAt }: { id: string; expiresAt: number }): GuardedDatabase {
    return onceFor(this.#core.database, { kind: 'client-assertion', owner: client.id, value: id, expiresAt });
  }

  /** Of two requests with the same assertion, only one does any work. Rejected work uses the assertion up too. */
  async #workOnce<T>(
    client: Client,
    method: string,
    once: GuardedDatabase,
    work: (client: Client, database: Database) => Promise<T>,
  ): Promise<T | 'client-changed'> {
    try {
      const outcome = await work(client, once).catch(unlessDeleted);
      await once.settle();
      return outcome;
    } catch (error) {
      if (isReplay(error)) throw this.#replayed(client, method);
      // If the database is unavailable, nothing was answered and the outcome may be unknown.
      if (isUnavailable(error)) throw error;
      await once.settle().catch((second: unknown) => {
        throw isReplay(second) ? this.#replayed(client, method) : second;
      });
      throw error;
    }
  }

  #replayed(client: Client, method: string): LatchkeyError {
    const fields = { code: 'replayed_client_assertion', client: client.identifier, method };
    this.#core.log.warn('auth.refused', 'client authentication refused', fields);
    return this.#refusal('The client assertion was already used.');
  }

  async #verifyLimited(context: RequestContext, presented: Verifiable): Promise<Attempt & { ok: true }> {
    const { activity, clock, log, clientAuthentication } = this.#core;
    const { failures } = clientAuthentication;
    const claimed = claimedId(presented);
    const shutFor = hasSecret(presented) ? failures.secondsShut(context.clientAddress, claimed) : 0;
    if (shutFor > 0) throw this.#limited(claimed, shutFor);
    const attempt =
      presented.method === 'assertion'
        ? await verifyAssertion(this.#core, presented, this.#audiences)
        : await this.#verify(presented);
    if (attempt.ok) {
      const { client, method, secret } = attempt;
      if (client.kind === 'managed' && secret !== undefined) activity.recordSecretUse(client.id, secret, clock.now());
      if (client.authMethod !== method) {
        const fields = { client: client.identifier, method, registered: client.authMethod };
        log.debug('auth.method', 'client authenticated with a method other than the registered one', fields);
      }
      return attempt;
    }
    const { client, reason, problem } = attempt;
    if (client === undefined) {
      const unknownShutFor = failures.secondsShut(context.clientAddress, undefined);
      if (unknownShutFor > 0) throw this.#limited(claimed, unknownShutFor);
    }
    log.info('auth.refused', 'client authentication refused', {
      code: reason,
      client: nameForLog(presented),
      method: presented.method,
      registered: client?.authMethod,
      ...(problem === undefined ? {} : { problem }),
    });
    // The signer has the key, so this is not a guess, or nothing could be verified.
    if (problem !== undefined) throw this.#refusal(problem);
    if (hasSecret(presented) && client?.authMethod !== 'none') {
      const { clientAddress, headers } = context;
      await failures.count({ clientAddress, origin: headers.origin }, client?.id);
    }
    throw this.#refusal(REFUSED);
  }

  async #verify(presented: SecretOrNone): Promise<SecretAttempt> {
    const candidates =
      presented.method === 'client_secret_basic'
        ? presented.candidates
        : [{ clientId: presented.clientId, secret: presented.method === 'none' ? '' : presented.secret }];
    let refused: SecretAttempt = { ok: false, reason: 'unknown_client', client: undefined };
    for (const { clientId, secret } of candidates) {
      const recalled = this.#core.clients.recallNamed(clientId);
      const now = this.#core.clock.now();
      const known = recalled === undefined ? undefined : judgeSecret(recalled, presented, secret, now);
      if (known?.ok === true) return known;
      const client = await this.#core.clients.findNamed(clientId);
      const judged = judgeSecret(client, presented, secret, now);
      if (judged.ok) return judged;
      if (client !== undefined) refused = judged;
    }
    return refused;
  }

  #limited(client: ClientId | undefined, seconds: number): LatchkeyError {
    this.#core.log.info('auth.refused', 'too many failed client authentications', { code: 'rate_limited', client });
    return new LatchkeyError('rate_limited', {
      description: 'Too many failed authentication attempts for this client.',
      retryAfterSeconds: Math.ceil(seconds),
    });
  }

  /** RFC 6749 5.2 requires the challenge if the header was used. It is harmless otherwise. */
  #refusal(description: string): LatchkeyError {
    return new LatchkeyError('invalid_client', {
      description,
      headers: { 'www-authenticate': `Basic realm="${this.#core.config.http.issuer}"` },
    });
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof LatchkeyError && error.code === 'temporarily_unavailable';
}

/** If the client is deleted during the work, new rows would refer to a missing client. */
function unlessDeleted(error: unknown): 'client-changed' {
  if (isMissingReference(error)) return 'client-changed';
  throw error;
}

/**
 * Tests whether a client may authenticate this way. Libraries differ in where they put the secret, so header and form
 * are interchangeable, and a public client may send the header with an empty secret. Strict clients must use exactly
 * their registered method. A secret that signs assertions must never be sent itself.
 */
function mayPresent(client: Client, presented: SecretOrNone): boolean {
  const isInTwoPlaces = presented.method === 'client_secret_basic' && presented.isInFormToo;
  if (client.hasStrictAuthMethod) return presented.method === client.authMethod && !isInTwoPlaces;
  switch (client.authMethod) {
    case 'client_secret_basic':
    case 'client_secret_post':
      return presented.method !== 'none';
    case 'none':
      return !hasSecret(presented);
    case 'client_secret_jwt':
    case 'private_key_jwt':
      return false;
  }
}

function judgeSecret(client: Client | undefined, presented: SecretOrNone, text: string, now: number): SecretAttempt {
  // Also compared for unknown clients, so that the response time reveals nothing.
  const isNone = client?.secret === undefined && NO_SECRET.matches(text);
  if (client === undefined) return { ok: false, reason: 'unknown_client', client };
  const secret = acceptedSecret(client, now, (own) => own.matches(text));
  if (!mayPresent(client, presented)) return { ok: false, reason: 'wrong_auth_method', client };
  if (secret === undefined && !(isNone && client.authMethod === 'none')) {
    return { ok: false, reason: 'bad_client_secret', client };
  }
  return { ok: true, client, method: presented.method, secret };
}

function hasSecret(presented: Verifiable): boolean {
  switch (presented.method) {
    case 'client_secret_basic':
      return presented.candidates.some(({ secret }) => secret !== '');
    case 'client_secret_post':
    case 'assertion':
      return true;
    case 'none':
      return false;
  }
}

/** A value that does not name a client may be a secret. */
function nameForLog(presented: Verifiable): string | undefined {
  const name = claimedName(presented);
  return name !== undefined && isClientIdUrl(name) ? uriForLog(name) : claimedId(presented);
}

/** Returns the client ID in the credentials. Undefined if it cannot be an ID of this service. */
function claimedId(presented: Verifiable): ClientId | undefined {
  const name = claimedName(presented);
  return name === undefined ? undefined : namedClientId(name);
}

function claimedName(presented: Verifiable): string | undefined {
  if (presented.method === 'assertion') return presented.name;
  return presented.method === 'client_secret_basic' ? presented.candidates[0]?.clientId : presented.clientId;
}
