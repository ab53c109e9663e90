import type { z } from 'zod';
import { hint } from '#platform/config/shape.ts';
import { duration, type Immutable, integer, mapping, size } from '#platform/config/values.ts';

/** A token bucket of processor time with its default. */
function workLimit(burst: string, perSecond: string) {
  return mapping({
    burst: duration('0s', '1h').prefault(burst).describe('Work at once; `0s`: no limit.'),
    per_second: duration('1ms', '1s').prefault(perSecond).describe('Work that is given back each second.'),
  }).prefault({});
}

export const limitsSection = mapping({
  max_connections: integer(1, 1_000_000)
    .prefault(10_000)
    .describe('Open connections of a process; beyond it they are closed at once.'),
  max_connections_per_address: integer(1, 1_000_000)
    .prefault(200)
    .describe('Open connections from one address (IPv6: one /64) that is not a trusted proxy.'),
  handshake_timeout: duration('1s', '1m')
    .prefault('5s')
    .describe('For the PROXY header and the TLS handshake of a connection; then it is closed.'),
  headers_timeout: duration('1s', '10m').prefault('10s').describe('From the first byte to the end of the head.'),
  request_timeout: duration('1s', '1h').prefault('30s').describe('Until head and body have arrived.'),
  handler_timeout: duration('1s', '10m')
    .prefault('15s')
    .describe(
      'Until the answer is ready; then 503, and nothing is stored any more that was not stored by then. A sign-in on a ' +
        'device, of which the homeserver is told first, gets 30 s at least.',
    ),
  keep_alive_timeout: duration('1s', '1h').prefault('75s').describe('Idle connections are closed.'),
  max_requests_per_connection: integer(1, 1_000_000).prefault(10_000).describe('Then the connection is closed.'),
  max_concurrent_streams: integer(1, 1000)
    .prefault(100)
    .describe(
      'Requests that a connection of HTTP/2 may have open at once; further ones are refused, to be sent again.',
    ),
  max_request_line: size('1KiB', '64KiB').prefault('8KiB').describe('Longer request lines are refused (414).'),
  max_headers: size('1KiB', '64KiB').prefault('16KiB').describe('More header bytes are refused (431).'),
  max_body: mapping({
    form: size('1KiB', '16MiB').prefault('64KiB').describe('Body of a form.'),
    json: size('1KiB', '16MiB').prefault('64KiB').describe('JSON body.'),
    admin: size('1KiB', '16MiB').prefault('1MiB').describe('JSON body of the admin API.'),
  })
    .prefault({})
    .describe('Larger bodies are refused (413).'),
  password_hash_concurrency: hint(integer(1, 64), {
    defaultText: 'processors for each process of `http.workers`, 2 to 8, if half the memory of the container is enough',
  })
    .optional()
    .describe('Password hashes computed at once.'),
  password_hash_queue: integer(1, 10_000).prefault(64).describe('Password checks that may wait; beyond it 503.'),
  max_in_flight: integer(1, 1_000_000)
    .prefault(1000)
    .describe(
      'Requests that a process works on, without those whose body is still arriving; beyond it 503. Health, ' +
        'discovery, keys and introspection, and sign-in apart from them, have a reserve of one for each eight.',
    ),
  work: mapping({
    per_address: workLimit('30s', '50ms').describe(
      'For requests from one address (IPv6: one /64) in which nobody proves who they are. A sign-in costs the address about ' +
        '5 ms (a sign-in page 1 to 2 ms), and each wrong password 45 ms more: the hash of a right one costs the account. So ' +
        '500 users behind one address who all sign in within five minutes, every tenth with a typo, cost 5 s of the 45 s ' +
        'that the defaults allow them.',
    ),
    per_account: workLimit('60s', '100ms').describe('For requests of one account, from anywhere.'),
    per_client: workLimit('0s', '100ms').describe('For requests of one application that authenticates itself.'),
  })
    .prefault({})
    .describe(
      'Work that a process does for one caller, over all routes: processor time, and 10 ms for each MiB sent. Beyond it ' +
        '429. Requests of an address that has used 50 ms, or has three under way, wait for each other before. The ' +
        'homeserver and administrators are never limited.',
    ),
  max_db_waiters: integer(1, 1_000_000)
    .prefault(200)
    .describe('Requests that may wait for a database connection; beyond it 503.'),
  drain_delay: duration('0s', '10m')
    .prefault('0s')
    .describe('How long a stopping process keeps serving, so that a load balancer notices.'),
  shutdown_timeout: duration('1s', '1h')
    .prefault('30s')
    .describe('Requests in flight at a stop get so long to finish.'),
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
