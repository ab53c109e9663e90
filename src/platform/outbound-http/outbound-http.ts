/**
 * Requests to addresses that strangers name: keys, logos and sign-out addresses of clients. The guard keeps them away
 * from everything that only this machine can reach, and bounds what a hostile peer can cost (security 3.9).
 *
 *     const fetched = await core.outbound.get(client.jwksUri, { accept: 'application/json' });
 *     if (fetched.ok) use(fetched.body, fetched.freshForSeconds);
 *     else refuse('the keys could not be fetched');           // never with `fetched.reason`: it is for the log
 *
 *     const posted = await core.outbound.post(client.backchannelLogoutUri, { logout_token: token });
 *     if (posted.ok && posted.status === 200) ...             // any status but a redirect is an answer
 *
 * Both wait for at most five seconds in all and never throw. What fails is logged here. URLs that stand in the
 * configuration of the operator are not those of strangers: `isConfigured: true` permits private addresses, plain http
 * and every port for them, and `call` is for nothing else. Tests that need a peer on loopback make the guard with `loopbackOutbound` of
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
  type Answer,
  checkedLookup,
  exchange,
  type FailureReason,
  OutboundFailure,
  type Resolve,
  resolveByDns,
} from './exchange.ts';
import { Lanes } from './lanes.ts';
import { ReachableAddresses } from './reachable-addresses.ts';

const TOTAL_MS = 5_000;
/** For servers that the operator has chosen, such as sign-in providers: a person waits for them. */
export const CALL_TOTAL_MS = 10_000;
const CALLS_AT_ONCE_PER_SERVER = 20;
/** For a call to begin. */
const MAX_CALL_WAIT_MS = 5_000;
const MAX_BREAKERS = 1_000;
const AT_ONCE_PER_HOST = 4;
const AT_ONCE = 256;
const FAILURE_REMEMBERED_MS = 60_000;
const MAX_FAILURES = 1_000;
/** A host that a form took longer to be sent to rests for ten times as long, a minute at most. */
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
  /** The name servers of the machine, unless given. */
  readonly resolve?: Resolve;
  /** In place of the public certificate authorities; PEM. */
  readonly trustedCertificates?: string | undefined;
}

export interface GetOptions {
  /** Media types that are asked for. */
  readonly accept: string;
  /** The URL stands in the operator's configuration. */
  readonly isConfigured?: boolean;
  /** For the metrics; `clients` unless given. */
  readonly server?: CalledServer | undefined;
  /** Of the decoded body; 256 KiB unless given. */
  readonly maxBodyBytes?: number;
}

/** A document, sent with status 200. */
export interface Fetched {
  readonly ok: true;
  /** Lower case, without parameters. */
  readonly mediaType: string | undefined;
  /** Decoded, at most 256 KiB. */
  readonly body: Buffer;
  /** What `Cache-Control` says, within 5 minutes and an hour. */
  readonly freshForSeconds: number;
}

export interface Posted {
  readonly ok: true;
  readonly status: number;
}

/** A request to a server that the operator has chosen. */
export interface Call {
  readonly server: CalledServer;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** For all of it; ten seconds unless given. */
  readonly totalMs?: number;
  /** Of the decoded body; 256 KiB unless given. */
  readonly maxBodyBytes?: number;
  /** Whether it is left out (`resting`) while this server keeps failing at this address. */
  readonly hasBreaker?: boolean;
}

export interface Called {
  readonly ok: true;
  readonly status: number;
  /** Lower case, without parameters. */
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
  /** Of a call; the others have five seconds. */
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
  /** Of hosts that the operator names: strangers with many slow hosts take no turn from these. */
  readonly #configuredLanes = new Lanes({ perKey: AT_ONCE_PER_HOST, total: AT_ONCE });
  readonly #callLanes = new Lanes({ perKey: CALLS_AT_ONCE_PER_SERVER, total: AT_ONCE });
  /** Documents on their way, so that many requests at once for one of them cost one. */
  readonly #pending = new Map<string, Promise<Fetched | NotSent>>();
  /** In order of failing, so that the first is the oldest. */
  readonly #failures = new Map<string, Remembered>();
  /** Until when (milliseconds since the epoch) hosts of strangers are sent no form, in order of their slowness. */
  readonly #resting = new Map<string, number>();
  /** Of calls, by server and address, in order of their first use. */
  readonly #breakers = new Map<string, CircuitBreaker>();

  constructor(options: OutboundOptions) {
    this.#options = options;
    this.#addresses = new ReachableAddresses(options.allowedNetworks);
  }

  /** Fetches a document. After a failure the same is answered for a minute without a request. */
  async get(
    url: string,
    { accept, isConfigured = false, server = 'clients', ...bounds }: GetOptions,
  ): Promise<Fetched | NotSent> {
    const key = `${isConfigured} ${bounds.maxBodyBytes ?? ''} ${accept} ${url}`;
    const failed = this.#failures.get(key);
    if (failed !== undefined && this.#options.clock.now() < failed.until) return failed.failure;
    const pending = this.#pending.get(key);
    // Another task's promise: continue as a stretch of our own.
    if (pending !== undefined) return outside(pending);
    const fetching = this.#fetch(url, { accept, isConfigured, server, ...bounds });
    this.#pending.set(key, fetching);
    const fetched = await fetching.finally(() => this.#pending.delete(key));
    // That too much was under way says nothing about the document.
    if (!fetched.ok && fetched.reason !== 'busy') this.#rememberFailure(key, fetched);
    return fetched;
  }

  /**
   * Sends a form and reads the status. A slow host of a stranger is `busy` for a while afterwards, so that it holds up
   * no others that background work has forms for.
   */
  async post(
    url: string,
    form: Readonly<Record<string, string>>,
    { isConfigured = false }: { readonly isConfigured?: boolean } = {},
  ): Promise<Posted | NotSent> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = new URLSearchParams(form).toString();
    const message = { server: 'clients', method: 'POST', headers, body, needsBody: false } as const;
    const answer = await (isConfigured ? this.#send(url, isConfigured, message) : this.#sendUnlessSlow(url, message));
    return answer instanceof OutboundFailure ? notSent(answer) : { ok: true, status: answer.status };
  }

  /**
   * Asks a server that the operator has chosen, once more when the connection fails. Any status but a redirect is an
   * answer; nothing is remembered.
   */
  async call(url: string, { totalMs = CALL_TOTAL_MS, hasBreaker = false, ...call }: Call): Promise<Called | NotSent> {
    const breaker = hasBreaker ? this.#breakerOf(`${call.server} ${url}`) : undefined;
    if (breaker?.admits() === false) return { ok: false, reason: 'resting' };
    const message = { ...call, needsBody: true, signal: AbortSignal.timeout(totalMs) };
    let answer = await this.#send(url, true, message);
    if (answer instanceof OutboundFailure && answer.reason === 'connection')
      answer = await this.#send(url, true, message);
    if (breaker !== undefined) report(breaker, answer);
    if (answer instanceof OutboundFailure) return notSent(answer);
    return { ok: true, status: answer.status, mediaType: mediaTypeOf(answer), body: answer.body };
  }

  #breakerOf(key: string): CircuitBreaker {
    const breaker = this.#breakers.get(key) ?? new CircuitBreaker(this.#options.clock);
    this.#breakers.set(key, breaker);
    dropFirst(this.#breakers, MAX_BREAKERS);
    return breaker;
  }

  async #fetch(url: string, { accept, isConfigured, ...options }: FetchOptions): Promise<Fetched | NotSent> {
    const message = { ...options, method: 'GET', headers: { accept }, needsBody: true } as const;
    const answer = await this.#send(url, isConfigured, message);
    if (answer instanceof OutboundFailure) return notSent(answer);
    const { headers, body } = answer;
    return {
      ok: true,
      mediaType: mediaTypeOf(answer),
      body,
      freshForSeconds: freshSeconds(headers['cache-control'], headers.age),
    };
  }

  async #sendUnlessSlow(text: string, message: Message): Promise<Answer | OutboundFailure> {
    const { clock } = this.#options;
    const host = parseUrl(text)?.hostname ?? '';
    if (clock.now() < (this.#resting.get(host) ?? 0)) return new OutboundFailure('busy');
    const started = performance.now();
    const answer = await this.#send(text, false, message);
    const elapsed = performance.now() - started;
    if (elapsed >= SLOW_MS) {
      this.#resting.delete(host);
      this.#resting.set(host, clock.now() + Math.min(MAX_REST_MS, elapsed * REST_FACTOR));
      dropFirst(this.#resting, MAX_RESTING);
    }
    return answer;
  }

  async #send(text: string, isConfigured: boolean, message: Message): Promise<Answer | OutboundFailure> {
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
      const answer = await lanes.run(
        // One that is slow holds up no other on the same host.
        isCall ? message.server : url.hostname,
        isCall ? AbortSignal.any([signal, AbortSignal.timeout(MAX_CALL_WAIT_MS)]) : signal,
        () => new OutboundFailure('busy'),
        () => exchange(url, { ...message, signal, lookup, trustedCertificates, isTold: isConfigured }),
      );
      if (!isCall && message.method === 'GET' && answer.status !== 200) throw new OutboundFailure('status');
      return answer;
    } catch (error) {
      if (!(error instanceof OutboundFailure)) throw error;
      log.info('outbound.failed', 'a request to another server failed', {
        host: url?.host,
        reason: error.reason,
        cause: error.cause instanceof Error && 'code' in error.cause ? String(error.cause.code) : undefined,
      });
      return error;
    }
  }

  /** Host names are looked up and their addresses checked; an address in place of a name would bypass that. */
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

/** What an answer says of the server: one that answers, whatever it is, is there. */
function report(breaker: CircuitBreaker, answer: Answer | OutboundFailure): void {
  if (!(answer instanceof OutboundFailure)) {
    if (answer.status >= 500) breaker.fail();
    else breaker.succeed();
    return;
  }
  switch (answer.reason) {
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
      // Our own bounds say nothing about the server.
      breaker.giveUp();
  }
}

function mediaTypeOf({ headers }: Answer): string | undefined {
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
}

function notSent({ reason }: OutboundFailure): NotSent {
  return { ok: false, reason };
}

/** RFC 9111 5.2.2: what a shared cache may keep, less the age that it has. */
function freshSeconds(cacheControl = '', age = '0'): number {
  const [, seconds = '0'] = /(?:^|[\s,])max-age="?(\d{1,9})"?(?:[\s,]|$)/i.exec(cacheControl) ?? [];
  const left = Number(seconds) - (/^\d{1,9}$/.test(age) ? Number(age) : 0);
  return Math.min(MAX_FRESH_SECONDS, Math.max(MIN_FRESH_SECONDS, left));
}
