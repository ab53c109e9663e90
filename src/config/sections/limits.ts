import type { z } from 'zod';
import { hint } from '#platform/config/shape.ts';
import { duration, type Immutable, integer, mapping, size } from '#platform/config/values.ts';

/** A token bucket of processor time with its default. */
function workLimit(burst: string, perSecond: string) {
  return mapping({
    burst: duration('0s', '1h').prefault(burst).describe('Burst of processor time; `0s`: unlimited.'),
    per_second: duration('1ms', '1s').prefault(perSecond).describe('Processor time refilled per second.'),
  }).prefault({});
}

export const limitsSection = mapping({
  max_connections: integer(1, 1_000_000)
    .prefault(10_000)
    .describe('Maximum number of open connections per process; further connections are closed immediately.'),
  max_connections_per_address: integer(1, 1_000_000)
    .prefault(200)
    .describe('Maximum number of open connections from one address (IPv6: one /64) that is not a trusted proxy.'),
  handshake_timeout: duration('1s', '1m')
    .prefault('5s')
    .describe('Timeout for the PROXY header and the TLS handshake; then the connection is closed.'),
  headers_timeout: duration('1s', '10m')
    .prefault('10s')
    .describe('Timeout for receiving the request headers, from the first byte.'),
  request_timeout: duration('1s', '1h').prefault('30s').describe('Timeout for receiving headers and body.'),
  handler_timeout: duration('1s', '10m')
    .prefault('15s')
    .describe(
      'Timeout for processing a request; then 503, and no further changes are stored. Sign-in on a device, ' +
        'which calls the homeserver first, has at least 30 s.',
    ),
  keep_alive_timeout: duration('1s', '1h').prefault('75s').describe('Time after which idle connections are closed.'),
  max_requests_per_connection: integer(1, 1_000_000)
    .prefault(10_000)
    .describe('Maximum number of requests per connection; then the connection is closed.'),
  max_concurrent_streams: integer(1, 1000)
    .prefault(100)
    .describe(
      'Maximum number of concurrent requests on an HTTP/2 connection; further requests are refused and can ' +
        'be retried.',
    ),
  max_request_line: size('1KiB', '64KiB').prefault('8KiB').describe('Maximum length of a request line; then 414.'),
  max_headers: size('1KiB', '64KiB').prefault('16KiB').describe('Maximum size of the request headers; then 431.'),
  max_body: mapping({
    form: size('1KiB', '16MiB').prefault('64KiB').describe('Maximum size of a form body.'),
    json: size('1KiB', '16MiB').prefault('64KiB').describe('Maximum size of a JSON body.'),
    admin: size('1KiB', '16MiB').prefault('1MiB').describe('Maximum size of a JSON body of the admin API.'),
  })
    .prefault({})
    .describe('Maximum sizes of request bodies; then 413.'),
  password_hash_concurrency: hint(integer(1, 64), {
    defaultText: 'processors per process of `http.workers`, 2 to 8, if half the memory of the container suffices',
  })
    .optional()
    .describe('Number of password hashes computed concurrently.'),
  password_hash_queue: integer(1, 10_000).prefault(64).describe('Maximum number of queued password checks; then 503.'),
  max_in_flight: integer(1, 1_000_000)
    .prefault(1000)
    .describe(
      'Maximum number of concurrent requests per process, excluding those still receiving a body; then ' +
        '503. One slot in eight is reserved for health, discovery, keys and introspection, and another one ' +
        'for sign-in.',
    ),
  work: mapping({
    per_address: workLimit('30s', '50ms').describe(
      'Per client address (IPv6: one /64), for unauthenticated requests. A sign-in costs the address about ' +
        '5 ms (a sign-in page 1 to 2 ms), and each wrong password 45 ms more; the hash of a correct password ' +
        'is charged to the account. For example, 500 users behind one address who all sign in within five ' +
        'minutes, one in ten with a typo, cost 5 s of the 45 s that the defaults allow.',
    ),
    per_account: workLimit('60s', '100ms').describe('Per account, from any address.'),
    per_client: workLimit('0s', '100ms').describe('Per authenticated client.'),
  })
    .prefault({})
    .describe(
      'Limits the processor time per caller in each process, across all routes; each MiB sent counts as 10 ' +
        'ms. Above the limit: 429. Before that, requests from an address that has used 50 ms or has three ' +
        'requests in progress are processed one at a time. The homeserver and administrators are exempt.',
    ),
  max_db_waiters: integer(1, 1_000_000)
    .prefault(200)
    .describe('Maximum number of requests that wait for a database connection; then 503.'),
  drain_delay: duration('0s', '10m')
    .prefault('0s')
    .describe('How long a stopping process continues to accept requests, so that load balancers can react.'),
  shutdown_timeout: duration('1s', '1h')
    .prefault('30s')
    .describe('Time for requests in progress to finish when the process stops.'),
});

export type LimitsConfig = Immutable<ReturnType<typeof limitsConfig>>;

/** @param hashConcurrency the default of `password_hash_concurrency` */
export function limitsConfig(parsed: z.output<typeof limitsSection>, hashConcurrency: number) {
  return {
    maxConnections: parsed.max_connections,
    maxConnectionsPerAddress: parsed.max_connections_per_address,
    handshakeTimeoutSeconds: parsed.handshake_timeout,
    headersTimeoutSeconds: parsed.headers_timeout,
    requestTimeoutSeconds: parsed.request_timeout,
    handlerTimeoutSeconds: parsed.handler_timeout,
    keepAliveTimeoutSeconds: parsed.keep_alive_timeout,
    maxRequestsPerConnection: parsed.max_requests_per_connection,
    maxConcurrentStreams: parsed.max_concurrent_streams,
    maxRequestLineBytes: parsed.max_request_line,
    maxHeadersBytes: parsed.max_headers,
    maxBody: { formBytes: parsed.max_body.form, jsonBytes: parsed.max_body.json, adminBytes: parsed.max_body.admin },
    passwordHashConcurrency: parsed.password_hash_concurrency ?? hashConcurrency,
    passwordHashQueue: parsed.password_hash_queue,
    maxInFlight: parsed.max_in_flight,
    maxDbWaiters: parsed.max_db_waiters,
    work: {
      perAddress: workLimitConfig(parsed.work.per_address),
      perAccount: workLimitConfig(parsed.work.per_account),
      perClient: workLimitConfig(parsed.work.per_client),
    },
    drainDelaySeconds: parsed.drain_delay,
    shutdownTimeoutSeconds: parsed.shutdown_timeout,
  };
}

function workLimitConfig(parsed: z.output<typeof limitsSection>['work']['per_address']) {
  return { burstMs: parsed.burst * 1000, perSecondMs: parsed.per_second * 1000 };
}
