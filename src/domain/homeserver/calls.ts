/**
 * Calls to the homeserver's API: the shared secret, limits on time, size and concurrency, and how responses are
 * interpreted (chat-compat 11.3, 11.8, 11.9). Connections are kept alive. Redirects are not followed, because they
 * would leak the secret.
 */

import type { Config } from '#config/config.ts';
import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import { isObject } from '#platform/base/objects.ts';
import { CircuitBreaker } from '#platform/outbound-http/circuit-breaker.ts';
import { exchange, OutboundFailure, type TestResponse } from '#platform/outbound-http/exchange.ts';
import { keepConnections } from '#platform/outbound-http/kept-connections.ts';
import { Lanes } from '#platform/outbound-http/lanes.ts';
import type { CallContext, HomeserverFailure, HomeserverResult, Provisioned } from './homeserver.ts';

const MAX_BODY_BYTES = 1024 * 1024;
/** Time until a call must start. */
const MAX_WAIT_MS = 5_000;
const MAX_WAITING = 1_000;
const SLOW_MS = 1_000;
const MAX_RETRY_AFTER_SECONDS = 3_600;

/** Limits for calls within a request (chat-compat 11.9). */
const REQUEST_LIMITS = {
  request: { connectMs: 2_000, totalMs: 5_000 },
  page: { connectMs: 1_000, totalMs: 1_000 },
  account: { connectMs: 1_000, totalMs: 3_000 },
  admin: { connectMs: 2_000, totalMs: 10_000 },
};
/** Synapse takes minutes to delete a user. */
const LONG_JOB_MS = 300_000;

export interface CallsDeps {
  readonly config: Pick<Config, 'homeserver' | 'protocolName'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Latchkey version. */
  readonly version: string;
}

export interface Call {
  /** Used for logging. */
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Relative to the endpoint, without a leading slash, with encoded names. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Whether the call may take minutes in a job. */
  readonly isLong?: boolean;
}

/** Members of a JSON object. */
export type Members = Readonly<Record<string, unknown>>;

/** Returns a nonempty string member; undefined for anything else. */
export function textOf(member: unknown): string | undefined {
  return typeof member === 'string' && member !== '' ? member : undefined;
}

/** The members of a successful response, and whether its status is 201. */
export type Answer = { readonly ok: true; readonly value: Members; readonly isCreated: boolean } | HomeserverFailure;

/** Returns whether a provisioned user is new. */
export function provisioned(answer: Answer): HomeserverResult<Provisioned> {
  return answer.ok ? { ok: true, value: { isNew: answer.isCreated } } : answer;
}

export class HomeserverCalls {
  readonly #deps: CallsDeps;
  readonly #lanes: Lanes;
  /**
   * Separate circuit breakers by timeout: a page that gave up after a second does not affect calls that wait longer.
   */
  readonly #breakers: Readonly<Record<'request' | 'page' | 'account', CircuitBreaker>>;
  readonly #connections = keepConnections(() => performance.now());

  constructor(deps: CallsDeps) {
    const { maxConcurrent } = deps.config.homeserver;
    this.#deps = deps;
    this.#lanes = new Lanes({ perKey: maxConcurrent, total: maxConcurrent + MAX_WAITING });
    const { clock } = deps;
    this.#breakers = {
      request: new CircuitBreaker(clock),
      page: new CircuitBreaker(clock),
      account: new CircuitBreaker(clock),
    };
  }

  /** Returns the members of a successful response. Throws only on bugs. */
  async send(call: Call, context: CallContext): Promise<Answer> {
    const { request } = this.#breakers;
    const own = context.kind === 'page' || context.kind === 'account' ? this.#breakers[context.kind] : request;
    // Jobs follow their own retry schedule and detect when the homeserver is back.
    if (context.kind !== 'job' && !own.admits()) return unavailable('not called after repeated failures');
    const started = performance.now();
    let result: Answer;
    try {
      const response = await this.#exchange(call, context);
      for (const breaker of new Set([own, request])) {
        if (response.status >= 500) breaker.fail();
        else breaker.succeed();
      }
      result = judge(response);
    } catch (error) {
      if (!(error instanceof OutboundFailure)) throw error;
      // The call hit our own limit, so the homeserver has not failed.
      if (error.reason === 'busy') own.giveUp();
      else for (const breaker of new Set([own, ...(error.reason === 'timeout' ? [] : [request])])) breaker.fail();
      result = { ...unavailable(reasonOf(error)), isTimeout: error.reason === 'timeout' };
    }
    this.#report(call, result, performance.now() - started, context.kind === 'job');
    return result;
  }

  async #exchange({ method, path, query, body, isLong = false }: Call, context: CallContext): Promise<TestResponse> {
    const { config, version } = this.#deps;
    const { endpoint, secret, timeoutSeconds, connectTimeoutSeconds } = config.homeserver;
    const own = { connectMs: connectTimeoutSeconds * 1000, totalMs: isLong ? LONG_JOB_MS : timeoutSeconds * 1000 };
    const cut = context.kind === 'job' ? own : REQUEST_LIMITS[context.kind];
    const limit = AbortSignal.timeout(Math.min(own.totalMs, cut.totalMs));
    const signal = context.kind === 'job' ? AbortSignal.any([limit, context.signal]) : limit;
    const url = new URL(path, endpoint);
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
    return await this.#lanes.run(
      'homeserver',
      AbortSignal.any([signal, AbortSignal.timeout(MAX_WAIT_MS)]),
      () => new OutboundFailure('busy'),
      () =>
        exchange(url, {
          server: 'homeserver',
          method,
          headers: {
            authorization: `Bearer ${secret?.reveal() ?? ''}`,
            accept: 'application/json',
            'user-agent': `latchkey/${version}`,
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
          needsBody: true,
          signal,
          lookup: undefined,
          trustedCertificates: undefined,
          connectMs: Math.min(own.connectMs, cut.connectMs),
          maxBodyBytes: MAX_BODY_BYTES,
          // Long calls use a fresh connection: on a dead kept-alive connection, they would wait for minutes.
          ...(!isLong && { connections: this.#connections }),
          isTold: true,
        }),
    );
  }

  #report(call: Call, result: Answer, milliseconds: number, isJob: boolean): void {
    const { log } = this.#deps;
    const elapsed = Math.round(milliseconds);
    if (milliseconds >= SLOW_MS)
      log.warn('homeserver.slow', 'homeserver responded slowly', { call: call.name, milliseconds: elapsed });
    // Failures within a job appear in the log line of the job.
    if (!result.ok && result.reason === 'unavailable' && !isJob)
      log.warn('homeserver.failed', 'homeserver request failed', { call: call.name, reason: result.detail });
  }
}

/**
 * Interprets a response. Only a JSON object comes from the homeserver; anything else may come from a proxy in front of
 * it.
 */
function judge({ status, headers, body }: TestResponse): Answer {
  const members = membersOf(body);
  if (status >= 200 && status < 300) {
    if (status === 204) return { ok: true, value: {}, isCreated: false };
    if (members === undefined) return unavailable(`${status} without a JSON object`);
    return { ok: true, value: members, isCreated: status === 201 };
  }
  const errcode = typeof members?.['errcode'] === 'string' ? members['errcode'].slice(0, 100) : undefined;
  const detail = errcode === undefined ? String(status) : `${status} ${errcode}`;
  if (status === 404 && errcode === 'M_NOT_FOUND') return { ok: false, reason: 'unknown-user', detail };
  // 401, 403: the secrets differ. 404: the API is off, or another server responds. Both need an operator.
  if (status >= 500 || [401, 403, 404, 408, 429].includes(status)) {
    return {
      ...unavailable(detail),
      ...([401, 403, 404].includes(status) && { needsOperator: true }),
      retryAfterSeconds: retryAfter(headers['retry-after']),
    };
  }
  return { ok: false, reason: 'refused', detail, errcode };
}

function unavailable(detail: string): HomeserverFailure {
  return { ok: false, reason: 'unavailable', detail };
}

function reasonOf({ reason, cause }: OutboundFailure): string {
  return cause instanceof Error && 'code' in cause ? `${reason} (${String(cause.code)})` : reason;
}

function membersOf(body: Buffer): Members | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Parses RFC 9110 10.2.3 in seconds, the only form that Synapse sends. */
function retryAfter(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,9}$/.test(value) ? Math.min(Number(value), MAX_RETRY_AFTER_SECONDS) : undefined;
}
