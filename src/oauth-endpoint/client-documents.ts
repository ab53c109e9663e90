/**
 * Clients whose ID is the https URL of their metadata (OAuth Client ID Metadata Document). The document is fetched when
 * a client starts something: at the authorization endpoint, for a pushed request and for a device. Everything after
 * that works without the document, so tokens and sessions never wait for a client's host.
 *
 * The caller chooses what is fetched and is not trusted. Therefore each fetch counts against the rate limit of the
 * caller's address, few fetches run concurrently, and a URL without a usable document is not fetched for a minute.
 * Callers learn nothing about a host's response unless it is a document that names its own URL (security S-52). The log
 * has the reason.
 */
import { cancelGrantsOutsideRedirectUris } from '#domain/authorizations/cancel-authorization-grant.ts';
import type { Client } from '#domain/clients/client.ts';
import { documentClientId } from '#domain/clients/client-names.ts';
import { type StoredClientDocument, storeClientDocument } from '#domain/clients/store-client-document.ts';
import type { Core } from '#domain/core.ts';
import { chargeAddress } from '#domain/limits/rate-limits.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { parseJson } from '#platform/http/json-body.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { clientIdHost, clientIdUrlProblem, isClientIdUrl } from '#protocol/oauth/client-id-url.ts';
import { uriForLog, valuesForLog } from '#protocol/oauth/uris-in-logs.ts';
import { acceptMetadata, type MetadataDeps, metadataDeps } from './accept-metadata.ts';
import { requireSectorMember } from './sector-identifier.ts';

/** The draft recommends at least 5 KB. A key set may be larger than that. */
const MAX_BYTES = 16 * 1024;
const JSON_TYPE = /^application\/(?:[\w!#$&^.+-]{1,64}\+)?json$/;
/** How long a document is used if no newer one is available. */
const MAX_STALE_MS = 86_400_000;
/** How long a URL without a usable document is not fetched. */
const REFUSED_MS = 60_000;
const MAX_REFUSED = 1_000;
/**
 * Limits for requests that wait for clients' hosts, per host and in total. A slow host must not block this service with
 * many of them.
 */
const MAX_WAITING_FOR_HOST = 4;
const MAX_WAITING = 32;
const BUSY_RETRY_SECONDS = 5;

/** What callers see as long as nothing proves that a document exists. */
const NO_DOCUMENT =
  'client_id is not the URL of a client metadata document that contains this client_id; the server log has the details.';

/** Why a client cannot be used. */
interface Refusal {
  /** For the caller. */
  readonly description: string;
  /** For the log. */
  readonly reason: string;
  readonly expected?: string;
  readonly received?: string;
  readonly details?: LatchkeyError['details'];
}

type LoggedRefusal = Omit<Refusal, 'description' | 'reason'> & { readonly reason: string | undefined };

interface RememberedRefusal {
  readonly refusal: Refusal;
  readonly until: number;
  /** An earlier document may be used. */
  readonly isPassing: boolean;
}

class DocumentRefused extends Error {
  readonly refusal: Refusal;
  /** The document is not available now. Otherwise the publisher, the policy or an operator rejected it. */
  readonly isPassing: boolean;
  /** The result may differ for another requester. */
  readonly isAboutRequester: boolean;

  constructor(refusal: Refusal, { isPassing = false, isAboutRequester = false } = {}) {
    super(refusal.reason);
    this.refusal = refusal;
    this.isPassing = isPassing;
    this.isAboutRequester = isAboutRequester;
  }
}

export class ClientDocuments {
  readonly #deps: MetadataDeps;
  /** By URL, in the order of rejection. */
  readonly #refused = new Map<string, RememberedRefusal>();
  /** Number of waiting requests per host. */
  readonly #waiting = new Map<string, number>();
  #waitingCount = 0;

  constructor(core: Core) {
    this.#deps = metadataDeps(core);
  }

  /**
   * Updates the client directory with the current document of a client whose ID is a URL. Ignores other client IDs. A
   * fetch may take five seconds, so never call this in a transaction.
   * @param name the `client_id` of a request that starts something
   * @throws LatchkeyError `invalid_client`, `rate_limited`, `temporarily_unavailable`; all of them are logged
   */
  async refresh(context: RequestContext, name: string | undefined): Promise<void> {
    if (name === undefined || !isClientIdUrl(name)) return;
    this.#requireAdmitted(name);
    const { clients, clock } = this.#deps;
    let client = await clients.findNamed(name);
    if (isFresh(client, clock.now())) return;
    const refused = this.#refusedBefore(name);
    if (refused !== undefined) {
      if (refused.isPassing && mayServeStale(client, clock.now())) return;
      throw this.#refuse(name, refused.refusal);
    }
    if (client !== undefined) {
      // Another instance may have fetched it.
      clients.forget(client.id);
      client = await clients.findNamed(name);
      if (isFresh(client, clock.now())) return;
    }
    try {
      await this.#fetchWithinBounds(context, name);
    } catch (error) {
      if (isPassing(error) && mayServeStale(client, clock.now())) return;
      if (error instanceof DocumentRefused) throw this.#refuse(name, error.refusal);
      if (error instanceof LatchkeyError) this.#logRefusal(name, error.code, { reason: error.description });
      throw error;
    }
  }

  /** Checks that need no lookup. */
  #requireAdmitted(name: string): void {
    const { enabled, allowedHosts } = this.#deps.config.oauth.clientIdMetadataDocuments;
    const setting = 'oauth.client_id_metadata_documents';
    if (!enabled) {
      const reason = 'client_id is a URL, but client ID metadata documents are disabled';
      throw this.#refuse(name, { description: NO_DOCUMENT, reason, details: { setting: `${setting}.enabled` } });
    }
    const problem = clientIdUrlProblem(name);
    if (problem !== undefined) {
      throw this.#refuse(name, { description: `client_id ${problem}.`, reason: `client_id ${problem}` });
    }
    const host = new URL(name).hostname;
    if (allowedHosts.length > 0 && !allowedHosts.some((allowed) => isWithin(host, allowed))) {
      throw this.#refuse(name, {
        description: 'The host of client_id is not allowed.',
        reason: 'the host of client_id is not allowed',
        received: host,
        expected: valuesForLog(allowedHosts),
        details: { setting: `${setting}.allowed_hosts` },
      });
    }
  }

  async #fetchWithinBounds(context: RequestContext, url: string): Promise<void> {
    const host = clientIdHost(url);
    const waiting = this.#waiting.get(host) ?? 0;
    if (waiting >= MAX_WAITING_FOR_HOST || this.#waitingCount >= MAX_WAITING) {
      throw new LatchkeyError('temporarily_unavailable', {
        description: 'Too many requests are waiting for client metadata documents. Retry later.',
        retryAfterSeconds: BUSY_RETRY_SECONDS,
      });
    }
    this.#waiting.set(host, waiting + 1);
    this.#waitingCount += 1;
    try {
      await this.#charge(context);
      await this.#read(context, url);
    } catch (error) {
      if (error instanceof DocumentRefused && !error.isAboutRequester) this.#remember(url, error);
      throw error;
    } finally {
      this.#waitingCount -= 1;
      const left = (this.#waiting.get(host) ?? 1) - 1;
      if (left === 0) this.#waiting.delete(host);
      else this.#waiting.set(host, left);
    }
  }

  /** Uses the rate limit of registrations, because a document replaces a registration request. */
  async #charge({ clientAddress: address }: RequestContext): Promise<void> {
    const limiter = this.#deps.config.rateLimiting.clientRegistration.perIp;
    const taken = await chargeAddress(this.#deps, { name: 'client_registration', limiter, address });
    if (taken.ok) return;
    throw new LatchkeyError('rate_limited', {
      description: 'Too many client metadata documents were fetched for this address.',
      retryAfterSeconds: taken.retryAfterSeconds,
    });
  }

  async #read(context: RequestContext, url: string): Promise<void> {
    const { clients, log, outbound } = this.#deps;
    const fetched = await outbound.get(url, { accept: 'application/json', maxBodyBytes: MAX_BYTES });
    if (!fetched.ok) throw notThere(`fetch failed: ${fetched.reason}`, true);
    if (!JSON_TYPE.test(fetched.mediaType ?? '')) {
      throw notThere('the document has the wrong content type', false, fetched.mediaType, 'application/json');
    }
    const metadata = await this.#accept(context, url, memberObject(fetched.body));
    const { freshForSeconds } = fetched;
    const stored = await storeClientDocument(
      { ...this.#deps, cancelGrantsOutsideRedirectUris },
      { url, metadata, freshForSeconds },
    );
    const id = documentClientId(url);
    clients.forget(id);
    if (!stored.ok) throw new DocumentRefused(refusalOf(stored));
    if (stored.change === 'unchanged') return;
    log.info('client.document_read', 'client metadata document read', {
      client: uriForLog(url),
      id,
      change: stored.change,
      method: metadata.token_endpoint_auth_method,
    });
  }

  /** Judges the document like a registration. */
  async #accept(context: RequestContext, url: string, document: ReadonlyMap<string, unknown>) {
    const named = document.get('client_id');
    if (named !== url) {
      const received = typeof named === 'string' ? uriForLog(named) : typeof named;
      throw notThere('client_id in the document is not the URL of the document', false, received, uriForLog(url));
    }
    try {
      const metadata = await acceptMetadata(this.#deps, context, Object.fromEntries(document), url);
      await requireSectorMember(this.#deps, metadata, context.clientAddress);
      return metadata;
    } catch (error) {
      if (!(error instanceof LatchkeyError) || error.code === 'rate_limited') throw error;
      const { description = error.code, details } = error;
      const refusal = { description: `The client metadata document is refused: ${description}`, details };
      const { moduleRules } = this.#deps;
      const isAboutRequester = details['refusal'] === 'requester_banned' || moduleRules.replaces('clientRegistration');
      throw new DocumentRefused({ ...refusal, reason: description }, { isAboutRequester });
    }
  }

  #refuse(name: string, { description, reason, ...fields }: Refusal): LatchkeyError {
    this.#logRefusal(name, 'invalid_client', { reason, ...fields });
    return new LatchkeyError('invalid_client', { description });
  }

  #logRefusal(name: string, code: string, { details, ...fields }: LoggedRefusal): void {
    const { log } = this.#deps;
    log.info('auth.refused', 'client metadata document refused', {
      code,
      client: uriForLog(name),
      ...fields,
      ...details,
    });
  }

  #refusedBefore(url: string): RememberedRefusal | undefined {
    const refused = this.#refused.get(url);
    if (refused === undefined || this.#deps.clock.now() < refused.until) return refused;
    this.#refused.delete(url);
    return undefined;
  }

  #remember(url: string, { refusal, isPassing: passing }: DocumentRefused): void {
    this.#refused.delete(url);
    this.#refused.set(url, { refusal, isPassing: passing, until: this.#deps.clock.now() + REFUSED_MS });
    const oldest = this.#refused.keys().next();
    if (this.#refused.size > MAX_REFUSED && oldest.done !== true) this.#refused.delete(oldest.value);
  }
}

function isFresh(client: Client | undefined, now: number): boolean {
  return client?.document !== undefined && now < client.document.freshUntil;
}

/** While its document is not available, a client can use the known one for a day. */
function mayServeStale(client: Client | undefined, now: number): boolean {
  return client?.document !== undefined && now < client.document.freshUntil + MAX_STALE_MS;
}

/** Tests whether the error leaves the publisher's current document unknown. */
function isPassing(error: unknown): boolean {
  if (error instanceof DocumentRefused) return error.isPassing;
  return error instanceof LatchkeyError && (error.code === 'rate_limited' || error.code === 'temporarily_unavailable');
}

/** `example.org` matches only that host, `*.example.org` matches every host below it. */
function isWithin(host: string, allowed: string): boolean {
  return allowed.startsWith('*.') ? host.endsWith(allowed.slice(1)) : host === allowed;
}

function notThere(reason: string, isPassing: boolean, received?: string, expected?: string): DocumentRefused {
  const refusal = {
    description: NO_DOCUMENT,
    reason,
    ...(received !== undefined && { received }),
    ...(expected !== undefined && { expected }),
  };
  return new DocumentRefused(refusal, { isPassing });
}

function refusalOf(stored: Extract<StoredClientDocument, { readonly ok: false }>): Refusal {
  switch (stored.reason) {
    case 'disabled':
      return { description: 'This client is disabled.', reason: 'the client is disabled' };
    case 'taken':
      return { description: NO_DOCUMENT, reason: 'another client has the same ID' };
    case 'other-sector': {
      const text = `subject_type must remain pairwise, with the sector ${stored.sector}`;
      return { description: `The client metadata document is refused: ${text}.`, reason: text };
    }
  }
}

/** Returns the members of a JSON object. Any other value has none. */
function memberObject(body: Buffer): ReadonlyMap<string, unknown> {
  try {
    const value = parseJson(body);
    const isObject = value !== null && typeof value === 'object' && !Array.isArray(value);
    if (isObject) return new Map(Object.entries(value));
  } catch (error) {
    if (!(error instanceof LatchkeyError)) throw error;
  }
  throw notThere('the document is not a JSON object', false);
}
