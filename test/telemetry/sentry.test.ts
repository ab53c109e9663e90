import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSentry } from '#app/service/open-sentry.ts';
import { loadConfig } from '#config/load.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { failureReports, reportFailuresTo } from '#platform/base/failure-reports.ts';
import { packageRoot } from '#platform/base/package-root.ts';
import { ReceivedTraces } from '#platform/base/tracing.ts';
import { json } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import { enqueueJob } from '#platform/jobs/enqueue.test-support.ts';
import { JobWorker } from '#platform/jobs/worker.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { type RouteServer, startRouteServer, until } from '#test/support/route-server.ts';
import { type SentryPeer, startSentryPeer } from '#test/support/sentry-peer.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const FAILING: Route[] = [
  {
    ...{ method: 'POST', path: '/fails/:id', resource: 'human', errorFormat: 'page' },
    handle: async (context) => {
      const form = await context.readForm();
      try {
        JSON.parse(`${form.get('field')} ${context.query.get('code')} ${context.headers.cookie}`);
      } catch (error) {
        throw new Error(`cannot read ${context.headers.authorization} of mail@s3cret.example`, { cause: error });
      }
      return json(200, {});
    },
  },
  {
    ...{ method: 'GET', path: '/busy', resource: 'human', errorFormat: 'page' },
    handle: () => {
      throw new LatchkeyError('overloaded');
    },
  },
  {
    ...{ method: 'GET', path: '/refused', resource: 'human', errorFormat: 'page' },
    handle: () => {
      throw new LatchkeyError('not_found');
    },
  },
];

let peer: SentryPeer;
let server: RouteServer;
let clock: FakeClock;
let log: RecordingLog;
let close: () => Promise<void>;

const database = await sharedByTests(createTestDatabase());
beforeEach(async () => {
  peer = await startSentryPeer();
  clock = new FakeClock();
  log = new RecordingLog({ clock });
  server = await startRouteServer(FAILING);
});
afterEach(async () => {
  reportFailuresTo(undefined);
  await close();
  await server.close();
  await peer.close();
});

async function reporting(settings: Record<string, string> = {}, environment: Record<string, string> = {}) {
  const set = Object.entries(settings).map(([key, value]) => [`LATCHKEY__TELEMETRY__SENTRY__${key}`, value]);
  const { config } = loadConfig({
    files: [],
    environment: { SENTRY_DSN: peer.dsn, ...Object.fromEntries(set), ...environment },
    flags: {},
    workingDirectory: '/nowhere',
  });
  close = await openSentry(config.telemetry.sentry, { clock, log, version: '1.2.3' });
}

async function fail(): Promise<number> {
  const response = await fetch(`${server.origin}/fails/s3cret?code=s3cret-code`, {
    method: 'POST',
    headers: { cookie: 'latchkey=s3cret-cookie', authorization: `Bearer s3cret-${'t'.repeat(30)}`, 'x-own': 's3cret' },
    body: new URLSearchParams({ field: 's3cret-field' }),
  });
  return response.status;
}

describe('telemetry.sentry (operations 1.19)', () => {
  test('an unexpected error is an event with its causes; the preceding request lines are breadcrumbs', async () => {
    await reporting({ ENVIRONMENT: 'test' });
    await fetch(`${server.origin}/busy?code=s3cret`);
    await fetch(`${server.origin}/refused?code=s3cret`);
    expect(await fail()).toBe(500);
    await close();
    const [event, ...others] = peer.reports();
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      type: 'event',
      level: 'error',
      release: 'latchkey@1.2.3',
      environment: 'test',
      transaction: 'POST /fails/:id',
      tags: { 'latchkey.task.id': 'POST-3' },
      timestamp: clock.now() / 1000,
    });
    expect(event?.breadcrumbs?.values.map(({ message }) => message)).toEqual(['GET /busy 503']);
    const errors = event?.exception?.values ?? [];
    expect(errors.map(({ type }) => type)).toEqual(['SyntaxError', 'Error']);
    expect(errors[1]?.value).toMatch(/^cannot read Bearer … of …$/);
    expect(errors[1]?.mechanism.handled).toBe(true);
    const frame = errors[1]?.stacktrace.frames.at(-1);
    expect(frame).toMatchObject({ filename: 'app:///test/telemetry/sentry.test.ts', in_app: true });
    expect(peer.requests[0]?.path).toBe('/below/api/42/envelope/');
    expect(peer.requests[0]?.headers['x-sentry-auth']).toBe(
      'Sentry sentry_version=7, sentry_client=latchkey/1.2.3, sentry_key=the-public-key',
    );
  });

  test('no body, query, header, cookie, path or local folder is sent (security 3.8)', async () => {
    await reporting({ TRACES_SAMPLE_RATE: '1' });
    await fail();
    await close();
    expect(
      peer
        .reports()
        .map(({ type }) => type)
        .toSorted(),
    ).toEqual(['event', 'transaction']);
    const sent = JSON.stringify(peer.requests);
    expect(sent).not.toContain('s3cret');
    expect(sent).not.toContain(packageRoot);
    expect(sent).not.toContain('tttt');
  });

  test('a job is reported after its last failed attempt', async () => {
    await reporting();
    await enqueueJob(database.database, { queue: 'greet', payload: {}, now: clock.now() });
    const worker = new JobWorker({
      ...{ database: database.database, clock, log, tracing: new ReceivedTraces(false) },
      ...{ concurrency: 1, pollIntervalSeconds: 1, maxRetries: 1 },
      queues: [
        {
          name: 'greet',
          timeLimitSeconds: 60,
          run: async () => {
            throw new TypeError('no greeting');
          },
        },
      ],
    });
    const runDue = async (): Promise<void> => {
      while ((await worker.poll()) > 0) await worker.idle();
    };
    await runDue();
    expect(log.lines.map(({ event }) => event)).toContain('job.retry');
    clock.advanceSeconds(60);
    await runDue();
    await worker.stop(0);
    await close();
    expect(peer.reports()).toMatchObject([
      { transaction: 'job greet', exception: { values: [{ type: 'TypeError', value: 'no greeting' }] } },
    ]);
  });

  test('an error that ends the process is fatal', async () => {
    await reporting();
    failureReports?.report('thrown text', { name: 'process', isFatal: true });
    await close();
    expect(peer.reports()).toMatchObject([
      { level: 'fatal', exception: { values: [{ type: 'string', value: '', mechanism: { handled: false } }] } },
    ]);
  });

  test('requests are sampled as transactions at traces_sample_rate', async () => {
    await reporting({ TRACES_SAMPLE_RATE: '1' });
    await fetch(`${server.origin}/refused`);
    await close();
    const [transaction] = peer.reports();
    expect(transaction).toMatchObject({
      type: 'transaction',
      transaction: 'GET /refused',
      contexts: { trace: { op: 'http.server', status: 'ok', trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) } },
    });
    expect(transaction?.timestamp).toBeGreaterThanOrEqual(transaction?.start_timestamp ?? Number.NaN);
  });

  test.each([
    ['sample_rate 0', { SAMPLE_RATE: '0' }],
    ['traces_sample_rate 0, its default', {}],
  ])('%s: nothing is sent', async (name, settings) => {
    await reporting(settings);
    if (name.startsWith('sample')) await fail();
    else await fetch(`${server.origin}/refused`);
    await close();
    expect(peer.requests).toEqual([]);
  });

  test('nothing is reported without a DSN', async () => {
    await reporting({}, { SENTRY_DSN: '' });
    expect(failureReports).toBeUndefined();
    expect(await fail()).toBe(500);
  });

  test.each([
    ['429 with X-Sentry-Rate-Limits', { status: 429, headers: { 'x-sentry-rate-limits': '120:error:key' } }],
    ['429 with Retry-After', { status: 429, headers: { 'retry-after': '120' } }],
    ['200 with a limit on all categories', { status: 200, headers: { 'x-sentry-rate-limits': '120::organization' } }],
  ])('after %s nothing is sent for the given time', async (_name, response) => {
    await reporting();
    peer.answer = response;
    await fail();
    await until(() => peer.requests.length === 1);
    await close();
    await fail();
    await close();
    expect(peer.requests).toHaveLength(1);
    peer.answer = { status: 200 };
    clock.advanceSeconds(120);
    await fail();
    await close();
    expect(peer.requests).toHaveLength(2);
    expect(log.lines.filter(({ event }) => event === 'sentry.dropped')).toHaveLength(1);
  });

  test('a limit on other categories does not affect errors', async () => {
    await reporting();
    peer.answer = { status: 200, headers: { 'x-sentry-rate-limits': '120:transaction;replay:key, 60:session' } };
    await fail();
    await fail();
    await close();
    expect(peer.requests).toHaveLength(2);
  });

  test('a storm of errors costs at most 100 reports a minute', async () => {
    await reporting();
    for (let count = 0; count < 300; count += 1) failureReports?.report(new Error('again'), { name: 'process' });
    await close();
    expect(peer.requests).toHaveLength(100);
    expect(log.lines.find(({ event }) => event === 'sentry.dropped')?.fields).toEqual({
      reports: 1,
      reason: 'too many reports',
    });
    clock.advanceSeconds(60);
    failureReports?.report(new Error('again'), { name: 'process' });
    await close();
    expect(peer.requests).toHaveLength(101);
  });

  test.each(['https://sentry.example/42', 'https://key@sentry.example/', 'ftp://key@sentry.example/42', 'hush'])(
    'SENTRY_DSN=%s is rejected without being shown',
    async (dsn) => {
      close = async () => {};
      const refused = reporting({}, { SENTRY_DSN: dsn });
      await expect(refused).rejects.toThrow(/https:\/\/KEY@HOST\/PROJECT, got \[secret\] \(SENTRY_DSN\)/);
    },
  );
});
