/**
 * Requests to URLs that third parties provide: keys, logos and logout URLs of clients. The guard blocks access to
 * everything that only this machine can reach, and limits what a hostile server can cost (security 3.9).
 *
 *     const fetched = await core.outbound.get(client.jwksUri, { accept: 'application/json' });
 *     if (fetched.ok) use(fetched.body, fetched.freshForSeconds);
 *     else refuse('the keys could not be fetched');           // never with `fetched.reason`: it is for the log
 *
 *     const posted = await core.outbound.post(client.backchannelLogoutUri, { logout_token: token });
 *     if (posted.ok && posted.status === 200) ...             // any status but a redirect is an answer
 *
 * Both wait for at most five seconds in total and never throw. Failures are logged here. URLs from the operator's
 * configuration are trusted: `isConfigured: true` permits private addresses, plain http and every port for them, and
 * `call` accepts only such URLs. Tests that need a server on loopback create the guard with `loopbackOutbound` from
 * `test/support/https-peer.ts`.
 */
import { isIP } from 'node:net';
import type { Clock } from '#platform/base/clock.ts';
import type { Cidr } from '#platform/base/ip-address.ts';
import type { Log } from '#platform/base/log.ts';
import { outside } from '#platform/base/tasks.ts';
import { parseUrl } from '#platform/base/url.ts';
import type { CalledServer } from './call-metrics.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import {
  checkedLookup,
  exchange,
  type FailureReason,
  OutboundFailure,
  type Resolve,
  resolveByDns,
  type TestResponse,
} from './exchange.ts';
import { Lanes } from './lanes.ts';
import { ReachableAddresses } from './reachable-addresses.ts';

const TOTAL_MS = 5_000;
/** Timeout for servers that the operator has configured, such as sign-in providers, while a user is waiting. */
export const CALL_TOTAL_MS = 10_000;
const CALLS_AT_ONCE_PER_SERVER = 20;
/** Maximum time that a call waits for capacity. */
const MAX_CALL_WAIT_MS = 5_000;
const MAX_BREAKERS = 1_000;
const AT_ONCE_PER_HOST = 4;
const AT_ONCE = 256;
const FAILURE_REMEMBERED_MS = 60_000;
const MAX_FAILURES = 1_000;
/** A host that takes longer to accept a form is skipped for ten times as long, but at most a minute. */
const SLOW_MS = 1_000;
const REST_FACTOR = 10;
const MAX_REST_MS = 60_000;
const MAX_RESTING = 1_000;
const MIN_FRESH_SECONDS = 300;
const MAX_FRESH_SECONDS = 3_600;

export interface OutboundOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Networks that may be reached although they are not public. */
  readonly allowedNetworks: readonly Cidr[];
  readonly allowedPorts: readonly number[];
  /** Defaults to the name servers of the machine. */
  readonly resolve?: Resolve;
  /** PEM certificates to trust instead of the public certificate authorities. */
  readonly trustedCertificates?: string | undefined;
}

export interface GetOptions {
  /** Accepted media types. */
  readonly accept: string;
  /** Whether the URL comes from the operator's configuration. */
  readonly isConfigured?: boolean;
  /** Metric label. Defaults to `clients`. */
  readonly server?: CalledServer | undefined;
  /** Maximum size of the decoded body. Defaults to 256 KiB. */
  readonly maxBodyBytes?: number;
  /** Whether to try even if the last attempt failed within a minute: the caller limits the requests. */
  readonly ignoresFailures?: boolean;
}

/** A document that was served with status 200. */
export interface Fetched {
  readonly ok: true;
  /** Lowercase, without parameters. */
  readonly mediaType: string | undefined;
  /** Decoded, at most `maxBodyBytes`. */
  readonly body: Buffer;
  /** Lifetime according to `Cache-Control`, limited to between 5 minutes and an hour. */
  readonly freshForSeconds: number;
}

export interface Posted {
  readonly ok: true;
  readonly status: number;
}

/** A request to a server that the operator has configured. */
export interface Call {
  readonly server: CalledServer;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Timeout for the whole call. Defaults to ten seconds. */
  readonly totalMs?: number;
  /** Maximum size of the decoded body. Defaults to 256 KiB. */
  readonly maxBodyBytes?: number;
  /** Whether to skip the call (`resting`) while this server keeps failing at this URL. */
  readonly hasBreaker?: boolean;
}

export interface Called {
  readonly ok: true;
  readonly status: number;
  /** Lowercase, without parameters. */
  readonly mediaType: string | undefined;
  /** Decoded. */
  readonly body: Buffer;
}

export interface NotSent {
  readonly ok: false;
  readonly reason: FailureReason;
}

interface Message extends Omit<Call, 'totalMs' | 'hasBreaker'> {
  readonly needsBody: boolean;
  /** Set for calls. Other requests have five seconds. */
  readonly signal?: AbortSignal;
}

type FetchOptions = Required<Pick<GetOptions, 'accept' | 'isConfigured'>> & Pick<Message, 'server' | 'maxBodyBytes'>;

interface Remembered {
  readonly failure: NotSent;
  readonly until: number;
}

export class OutboundHttp {
  readonly #options: OutboundOptions;
  readonly #addresses: ReachableAddresses;
  readonly #lanes = new Lanes({ perKey: AT_ONCE_PER_HOST, total: AT_ONCE });
  /** For hosts from the configuration, so that third parties with many slow hosts do not use up their capacity. */
  readonly #configuredLanes = new Lanes({ perKey: AT_ONCE_PER_HOST, total: AT_ONCE });
  readonly #callLanes = new Lanes({ perKey: CALLS_AT_ONCE_PER_SERVER, total: AT_ONCE });
  /** Documents being fetched, so that many simultaneous requests for one document cost one fetch. */
  readonly #pending = new Map<string, Promise<Fetched | NotSent>>();
  /** In order of failure, so the first is the oldest. */
  readonly #failures = new Map<string, Remembered>();
  /**
   * Times (milliseconds since the epoch) until which slow third-party hosts receive no forms, in order of insertion.
   */
  readonly #resting = new Map<string, number>();
  /** Circuit breakers of calls by server and URL, in order of first use. */
  readonly #breakers = new Map<string, CircuitBreaker>();

  constructor(options: OutboundOptions) {
    this.#options = options;
    this.#addresses = new ReachableAddresses(options.allowedNetworks);
  }

  /** Fetches a document. A failure is cached for a minute. */
  async get(
    url: string,
    { accept, isConfigured = false, server = 'clients', ignoresFailures = false, ...bounds }: GetOptions,
  ): Promise<Fetched | NotSent> {
    const key = `${isConfigured} ${bounds.maxBodyBytes ?? ''} ${accept} ${url}`;
    const failed = this.#failures.get(key);
    const isRemembered = failed !== undefined && this.#options.clock.now() < failed.until;
    if (isRemembered && !ignoresFailures) return failed.failure;
    const pending = this.#pending.get(key);
    // The promise belongs to another task, so this task continues in a stretch of its own.
    if (pending !== undefined) return outside(pending);
    const fetching = this.#fetch(url, { accept, isConfigured, server, ...bounds });
    this.#pending.set(key, fetching);
    const fetched = await fetching.finally(() => this.#pending.delete(key));
    // Lack of capacity is not a failure of the document.
    if (!fetched.ok && fetched.reason !== 'busy') this.#rememberFailure(key, fetched);
    return fetched;
  }

  /**
   * Posts a form and reads the status. Afterwards, a slow third-party host counts as `busy` for a while, so that it
   * does not delay the forms that background jobs send to other hosts.
   */
  async post(
    url: string,
    form: Readonly<Record<string, string>>,
    { isConfigured = false }: { readonly isConfigured?: boolean } = {},
  ): Promise<Posted | NotSent> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = new URLSearchParams(form).toString();
    const message = { server: 'clients', method: 'POST', headers, body, needsBody: false } as const;
    const response = await (isConfigured ? this.#send(url, isConfigured, message) : this.#sendUnlessSlow(url, message));
    return response instanceof OutboundFailure ? notSent(response) : { ok: true, status: response.status };
  }

  /**
   * Calls a server that the operator has configured, with one retry if the connection fails. Any status but a redirect
   * is a valid response. Results are not cached.
   */
  async call(url: string, { totalMs = CALL_TOTAL_MS, hasBreaker = false, ...call }: Call): Promise<Called | NotSent> {
    const breaker = hasBreaker ? this.#breakerOf(`${call.server} ${url}`) : undefined;
    if (breaker?.admits() === false) return { ok: false, reason: 'resting' };
    const message = { ...call, needsBody: true, signal: AbortSignal.timeout(totalMs) };
    let response = await this.#send(url, true, message);
    if (response instanceof OutboundFailure && response.reason === 'connection')
      response = await this.#send(url, true, message);
    if (breaker !== undefined) report(breaker, response);
    if (response instanceof OutboundFailure) return notSent(response);
    return { ok: true, status: response.status, mediaType: mediaTypeOf(response), body: response.body };
  }

  #breakerOf(key: string): CircuitBreaker {
    const breaker = this.#breakers.get(key) ?? new CircuitBreaker(this.#options.clock);
    this.#breakers.set(key, breaker);
    dropFirst(this.#breakers, MAX_BREAKERS);
    return breaker;
  }

  async #fetch(url: string, { accept, isConfigured, ...options }: FetchOptions): Promise<Fetched | NotSent> {
    const message = { ...options, method: 'GET', headers: { accept }, needsBody: true } as const;
    const response = await this.#send(url, isConfigured, message);
    if (response instanceof OutboundFailure) return notSent(response);
    const { headers, body } = response;
    return {
      ok: true,
      mediaType: mediaTypeOf(response),
      body,
      freshForSeconds: freshSeconds(headers['cache-control'], headers.age),
    };
  }

  async #sendUnlessSlow(text: string, message: Message): Promise<TestResponse | OutboundFailure> {
    const { clock } = this.#options;
    const host = parseUrl(text)?.hostname ?? '';
    if (clock.now() < (this.#resting.get(host) ?? 0)) return new OutboundFailure('busy');
    const started = performance.now();
    const response = await this.#send(text, false, message);
    const elapsed = performance.now() - started;
    if (elapsed >= SLOW_MS) {
      this.#resting.delete(host);
      this.#resting.set(host, clock.now() + Math.min(MAX_REST_MS, elapsed * REST_FACTOR));
      dropFirst(this.#resting, MAX_RESTING);
    }
    return response;
  }

  async #send(text: string, isConfigured: boolean, message: Message): Promise<TestResponse | OutboundFailure> {
    const { log, resolve = resolveByDns, trustedCertificates } = this.#options;
    const { signal = AbortSignal.timeout(TOTAL_MS) } = message;
    const url = parseUrl(text);
    try {
      if (url === undefined || !(isConfigured || this.#isAllowed(url))) throw new OutboundFailure('url');
      const lookup = isConfigured
        ? undefined
        : checkedLookup(resolve, (address) => this.#addresses.has(address), signal);
      const isCall = message.signal !== undefined;
      const configured = isCall ? this.#callLanes : this.#configuredLanes;
      const lanes = isConfigured ? configured : this.#lanes;
      const response = await lanes.run(
        // A slow server does not delay others on the same host.
        isCall ? message.server : url.hostname,
        isCall ? AbortSignal.any([signal, AbortSignal.timeout(MAX_CALL_WAIT_MS)]) : signal,
        () => new OutboundFailure('busy'),
        () => exchange(url, { ...message, signal, lookup, trustedCertificates, isTold: isConfigured }),
      );
      if (!isCall && message.method === 'GET' && response.status !== 200) throw new OutboundFailure('status');
      return response;
    } catch (error) {
      if (!(error instanceof OutboundFailure)) throw error;
      log.info('outbound.failed', 'outbound request failed', {
        host: url?.host,
        reason: error.reason,
        cause: error.cause instanceof Error && 'code' in error.cause ? String(error.cause.code) : undefined,
      });
      return error;
    }
  }

  /** Host names are resolved and their addresses checked. A literal address would bypass that check. */
  #isAllowed({ protocol, port, username, password, hash, hostname }: URL): boolean {
    return (
      protocol === 'https:' &&
      username === '' &&
      password === '' &&
      hash === '' &&
      isIP(hostname.replace(/^\[|\]$/g, '')) === 0 &&
      this.#options.allowedPorts.includes(port === '' ? 443 : Number(port))
    );
  }

  #rememberFailure(key: string, failure: NotSent): void {
    const now = this.#options.clock.now();
    this.#failures.delete(key);
    this.#failures.set(key, { failure, until: now + FAILURE_REMEMBERED_MS });
    for (const [oldest, { until }] of this.#failures) {
      if (now < until && this.#failures.size <= MAX_FAILURES) break;
      this.#failures.delete(oldest);
    }
  }
}

function dropFirst(map: Map<string, unknown>, maximum: number): void {
  const first = map.keys().next();
  if (map.size > maximum && first.done !== true) map.delete(first.value);
}

/** Reports a result to the breaker: a server that responds below status 500 is available. */
function report(breaker: CircuitBreaker, response: TestResponse | OutboundFailure): void {
  if (!(response instanceof OutboundFailure)) {
    if (response.status >= 500) breaker.fail();
    else breaker.succeed();
    return;
  }
  switch (response.reason) {
    case 'connection':
    case 'name':
    case 'timeout':
      breaker.fail();
      break;
    case 'redirect':
    case 'too-large':
    case 'encoding':
      breaker.succeed();
      break;
    default:
      // Failures caused by our own limits do not count against the server.
      breaker.giveUp();
  }
}

function mediaTypeOf({ headers }: TestResponse): string | undefined {
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
}

function notSent({ reason }: OutboundFailure): NotSent {
  return { ok: false, reason };
}

/** RFC 9111 5.2.2: the lifetime in a shared cache, minus the current age. */
function freshSeconds(cacheControl = '', age = '0'): number {
  const [, seconds = '0'] = /(?:^|[\s,])max-age="?(\d{1,9})"?(?:[\s,]|$)/i.exec(cacheControl) ?? [];
  const left = Number(seconds) - (/^\d{1,9}$/.test(age) ? Number(age) : 0);
  return Math.min(MAX_FRESH_SECONDS, Math.max(MIN_FRESH_SECONDS, left));
}
