/** Holds `src/platform/sentry` against @sentry/core. */
import { isDeepStrictEqual } from 'node:util';
import {
  createStackParser,
  getEnvelopeEndpointWithUrlEncodedAuth,
  isRateLimited,
  makeDsn,
  parseEnvelope,
  type RateLimits,
  updateRateLimits,
} from '@sentry/core';
import { nodeStackLineParser } from '@sentry/core/server';
import fc from 'fast-check';
import { describe, onTestFinished, test, vi } from 'vitest';
import { describeErrors } from '#platform/sentry/described-errors.ts';
import { parseDsn } from '#platform/sentry/dsn.ts';
import { Envelopes } from '#platform/sentry/envelopes.ts';
import { SentryRateLimits } from '#platform/sentry/rate-limits.ts';
import { silentLog } from '#test/support/silent-log.ts';
import { compare, REJECTED } from './compare.ts';

const COUNT = 2_000;
const NO_LIMITS = { 'x-sentry-rate-limits': null, 'retry-after': null };

function headersOf(responses: readonly { readonly headers: Readonly<Record<string, string>> }[]): string {
  return responses.flatMap(({ headers }) => Object.values(headers)).join(' ');
}

interface Position {
  readonly lineno: number | undefined;
  readonly colno: number | undefined;
}

describe('Sentry as @sentry/core', () => {
  test('where a DSN leads', async () => {
    // The library reports each text that is not a DSN.
    onTestFinished(() => void vi.restoreAllMocks());
    vi.spyOn(console, 'error').mockImplementation(() => {});
    const hosts = fc.constantFrom('o1.ingest.sentry.io', '[::1]', 'localhost:9000', 'sentry', 'x/y', '');
    const keys = fc.constantFrom('a', 'key', 'key:secret', '12', 'a', 'key', 'a-b', '');
    await compare<string, string>({
      inputs: fc
        .tuple(
          fc.constantFrom('https', 'https', 'http', 'ftp'),
          keys,
          hosts,
          fc.constantFrom('', '/p', '/p/q'),
          fc.constantFrom('/1', '/42', '/4503', '/x', '/1x', '/1?a=b', '/1#f'),
        )
        .map(([protocol, key, host, path, project]) => `${protocol}://${key}@${host}${path}${project}`),
      count: COUNT,
      ours: (dsn) => parseDsn(dsn)?.url ?? REJECTED,
      library: (dsn) => {
        const components = makeDsn(dsn);
        if (components === undefined) return REJECTED;
        const url = new URL(getEnvelopeEndpointWithUrlEncodedAuth(components));
        return url.origin + url.pathname;
      },
      decisions: {
        'a key is any user name, a path any path': (_, ours, library) => ours !== REJECTED && library === REJECTED,
        'a project consists of digits, and nothing follows it': (dsn, ours) =>
          ours === REJECTED && /(?:x|\?a=b|#f)$/.test(dsn),
      },
    });
  });

  test('how long reports wait', async () => {
    const seconds = fc.constantFrom('0', '1', '30', '2700', '', 'x', '90000', '-5', '1.5');
    const categories = fc.constantFrom(
      '',
      'error',
      'transaction',
      'error;transaction',
      'default;error',
      'metric_bucket',
      'security',
    );
    const limits = fc
      .array(fc.tuple(seconds, categories), { minLength: 1, maxLength: 3 })
      .map((some) => some.map(([time, names]) => `${time}:${names}:organization`).join(', '));
    await compare<
      readonly {
        readonly status: number;
        readonly headers: Readonly<Record<string, string>>;
        readonly afterMs: number;
      }[],
      readonly boolean[]
    >({
      inputs: fc.array(
        fc.record({
          status: fc.constantFrom(200, 429, 500),
          headers: fc.oneof(
            limits.map((value) => ({ 'x-sentry-rate-limits': value })),
            seconds.map((value) => ({ 'retry-after': value })),
            fc.constant({}),
          ),
          afterMs: fc.constantFrom(0, 500, 5_000, 40_000, 3_000_000),
        }),
        { minLength: 1, maxLength: 3 },
      ),
      count: COUNT,
      ours: (responses) => {
        const own = new SentryRateLimits();
        let now = 1_000_000;
        return responses.flatMap(({ afterMs, ...response }) => {
          own.learn(response, now);
          now += afterMs;
          return [own.isLimited('error', now), own.isLimited('transaction', now)];
        });
      },
      library: (responses) => {
        let known: RateLimits = {};
        let now = 1_000_000;
        return responses.flatMap(({ status, headers, afterMs }) => {
          known = updateRateLimits(known, { statusCode: status, headers: { ...NO_LIMITS, ...headers } }, now);
          now += afterMs;
          return [isRateLimited(known, 'error', now), isRateLimited(known, 'transaction', now)];
        });
      },
      decisions: {
        'an hour is the longest wait': (responses) => headersOf(responses).includes('90000'),
        'a time that is not in whole seconds means a minute': (responses) => /-5|x|1\.5/.test(headersOf(responses)),
        'of several limits the longest counts': (_, ours, library) =>
          ours !== REJECTED && library !== REJECTED && ours.every((isLimited, index) => isLimited || !library[index]),
        '"Retry-After" limits reports with status 429 only (Sentry, rate limiting)': (responses) =>
          responses.some(({ status, headers }) => status !== 429 && 'retry-after' in headers),
      },
    });
  });

  test('frames of a stack', async () => {
    const parse = createStackParser(nodeStackLineParser());
    const place = fc.constantFrom(
      '/srv/app/dist/main.js',
      'file:///srv/app/dist/main.js',
      'node:internal/process/task_queues',
      '/srv/node_modules/pg/lib/client.js',
      'C:/app/main.js',
    );
    const name = fc.constantFrom(
      '',
      'run',
      'Object.run',
      'async Promise.all',
      'new Service',
      'Server.<anonymous>',
      'Module._compile',
    );
    const line = fc
      .tuple(name, place, fc.integer({ min: 1, max: 9999 }), fc.integer({ min: 1, max: 99 }))
      .map(([called, file, at, column]) =>
        called === '' ? `    at ${file}:${at}:${column}` : `    at ${called} (${file}:${at}:${column})`,
      );
    const odd = fc.constantFrom('    at native', '    at <anonymous>', '    at new Promise (<anonymous>)', 'text', '');
    await compare<string, readonly Position[]>({
      inputs: fc
        .array(fc.oneof({ weight: 6, arbitrary: line }, odd), { maxLength: 6 })
        .map((lines) => ['Error: x', ...lines].join('\n')),
      count: COUNT,
      ours: (stack) => {
        const error = new Error('x');
        error.stack = stack;
        return describeErrors(error).flatMap(({ stacktrace }) =>
          stacktrace.frames.map(({ lineno, colno }) => ({ lineno, colno })),
        );
      },
      library: (stack) => parse(stack).map(({ lineno, colno }) => ({ lineno, colno })),
      decisions: {
        'calls without a position are left out': (_, ours, library) =>
          library !== REJECTED &&
          isDeepStrictEqual(
            ours,
            library.filter(({ lineno }) => lineno !== undefined),
          ),
      },
    });
  });

  test('envelopes', async () => {
    const sent: string[] = [];
    const envelopes = (now: number) =>
      new Envelopes({
        clock: { now: () => now },
        log: silentLog,
        post: async (envelope) => {
          sent.push(envelope);
          return { status: 200, headers: {} };
        },
      });
    await compare<
      {
        readonly kind: 'error' | 'transaction';
        readonly now: number;
        readonly body: Readonly<Record<string, unknown>> & { readonly event_id: string };
      },
      unknown
    >({
      inputs: fc.record({
        kind: fc.constantFrom('error', 'transaction'),
        now: fc.integer({ min: 0, max: 4_000_000_000_000 }),
        body: fc
          .dictionary(fc.constantFrom('message', 'tags', 'contexts', 'spans'), fc.jsonValue({ maxDepth: 2 }))
          .map((members) => ({ ...members, event_id: '0123456789abcdef'.repeat(2) })),
      }),
      count: 500,
      ours: ({ kind, now, body }) => {
        return [
          { event_id: body.event_id, sent_at: new Date(now).toISOString() },
          [[{ type: kind === 'error' ? 'event' : 'transaction' }, JSON.parse(JSON.stringify(body))]],
        ];
      },
      library: async ({ kind, now, body }) => {
        const queue = envelopes(now);
        queue.add(kind, body);
        await queue.close();
        return parseEnvelope(sent.pop() ?? '');
      },
      decisions: {},
    });
  });
});
