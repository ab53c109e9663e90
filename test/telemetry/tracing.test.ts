import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openTracing } from '#app/service/open-tracing.ts';
import { loadConfig } from '#config/load.ts';
import { systemClock } from '#platform/base/clock.ts';
import type { Cidr } from '#platform/base/ip-address.ts';
import { resumeTask, Task } from '#platform/base/tasks.ts';
import type { Tracing } from '#platform/base/tracing.ts';
import { json } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import { enqueueJob } from '#platform/jobs/enqueue.test-support.ts';
import { DONE, type Job } from '#platform/jobs/queue.ts';
import { JobWorker } from '#platform/jobs/worker.ts';
import { exchange } from '#platform/outbound-http/exchange.ts';
import { statement } from '#platform/postgres/statement.ts';
import { cheapHasher, insertTestAccount } from '#test/support/accounts.ts';
import { type Collector, startCollector } from '#test/support/collector.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { startPages } from '#test/support/page-service.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { type RouteServer, startRouteServer, until } from '#test/support/route-server.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const CALLER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const SAMPLED = `00-${CALLER.traceId}-${CALLER.spanId}-01`;
const UNSAMPLED = `00-${CALLER.traceId}-${CALLER.spanId}-00`;

const echo = statement<{ echoed: string }, { readonly text: string }>('tracing-test', 'select :text::text as echoed');
const divide = statement<object, { readonly text: string }>('tracing-test-error', 'select :text::integer as echoed');
let collector: Collector;
let peer: Collector;
let log: RecordingLog;
const closers: (() => Promise<void>)[] = [];

const database = await sharedByTests(createTestDatabase());
beforeEach(async () => {
  collector = await startCollector();
  peer = await startCollector();
  log = new RecordingLog({ clock: systemClock });
  await sql(database.database, 'delete from queue_jobs');
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await Promise.all([collector.close(), peer.close()]);
});

const LOOPBACK: readonly Cidr[] = [{ address: '127.0.0.0', prefixLength: 8, family: 'ipv4' }];

/** Starts tracing configured by these settings and variables. */
async function traced(settings = 'exporter: otlp', environment: Record<string, string> = {}) {
  const { config } = loadConfig({
    files: [],
    environment: {
      LATCHKEY__TELEMETRY__TRACING__ENDPOINT: collector.endpoint,
      ...Object.fromEntries(
        settings.split(', ').map((entry) => {
          const [key = '', value = ''] = entry.split(': ');
          return [`LATCHKEY__TELEMETRY__TRACING__${key.toUpperCase()}`, value];
        }),
      ),
      ...environment,
    },
    flags: {},
    workingDirectory: '/nowhere',
  });
  return await openTracing(config.telemetry.tracing, { clock: systemClock, log, version: '1.2.3' });
}

/**
 * Starts a server with one page that queries the database, hashes a password, calls another server and queues a job.
 */
async function serve(tracing: Tracing, trustedProxies: readonly Cidr[] = LOOPBACK): Promise<RouteServer> {
  const hasher = cheapHasher();
  const call = (isTold: boolean) =>
    exchange(new URL(`${peer.endpoint}/path?code=s3cret`), {
      ...{ method: 'POST', headers: {}, needsBody: true, signal: AbortSignal.timeout(30_000), isTold },
      ...{ lookup: undefined, trustedCertificates: undefined },
    });
  const work: Route = {
    ...{ method: 'GET', path: '/tasks/:id', resource: 'human', errorFormat: 'page' },
    handle: async () => {
      await database.database.first(echo, { text: 's3cret' });
      await database.database.first(divide, { text: 's3cret' }).catch(() => {});
      await hasher.hash('s3cret', { address: 'x' });
      await call(true);
      await call(false);
      await enqueueJob(database.database, { queue: 'greet', payload: {}, now: Date.now() });
      return json(200, {});
    },
  };
  const server = await startRouteServer([work], { tracing, http: { trustedProxies } });
  closers.push(() => server.close());
  return server;
}

function get(server: RouteServer, headers: Record<string, string> = {}, path = '/tasks/7?code=s3cret') {
  return fetch(server.origin + path, { headers: { 'user-agent': 'test', cookie: 'c=s3cret', ...headers } });
}

/** Runs the pending jobs. */
async function runJobs(tracing: Tracing, outcome: (job: Job) => Promise<typeof DONE> = async () => DONE) {
  const worker = new JobWorker({
    ...{ database: database.database, clock: systemClock, log, tracing, concurrency: 1, pollIntervalSeconds: 1 },
    maxRetries: 0,
    queues: [{ name: 'greet', timeLimitSeconds: 60, run: outcome }],
  });
  while ((await worker.poll()) > 0) await worker.idle();
  await worker.stop(0);
}

describe('request spans (operations 7.2)', () => {
  test('one for the request, with statements, hashes and calls below; its job is in the same trace', async () => {
    const { tracing, close } = await traced('exporter: otlp', {
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=k%20ey',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    });
    const server = await serve(tracing);
    await get(server);
    await runJobs(tracing);
    await close();
    const spans = collector.spans();
    const [request] = spans.filter(({ kind }) => kind === 2);
    const [job] = spans.filter(({ kind }) => kind === 5);
    expect(request).toMatchObject({
      name: 'GET /tasks/:id',
      attributes: {
        'http.request.method': 'GET',
        'http.route': '/tasks/:id',
        'http.response.status_code': '200',
        'url.path': '/tasks/7',
        'client.address': '127.0.0.1',
        'user_agent.original': 'test',
        'latchkey.task.id': 'GET-1',
      },
    });
    expect(request?.parentSpanId).toBeUndefined();
    const below = spans.filter(({ parentSpanId, kind }) => parentSpanId === request?.spanId && kind !== 5);
    expect(below.map(({ name, kind }) => [name, kind])).toEqual([
      ['tracing-test', 3],
      ['tracing-test-error', 3],
      ['password hash', 1],
      ['POST', 3],
      ['POST', 3],
      ['test-insert-job', 3],
    ]);
    expect(below[1]).toMatchObject({
      status: { code: 2 },
      attributes: { 'db.response.status_code': '22P02', 'error.type': 'StatementError' },
    });
    expect(below[3]?.attributes).toEqual({
      'http.request.method': 'POST',
      'http.response.status_code': '200',
      'server.address': '127.0.0.1',
      'server.port': new URL(peer.endpoint).port,
    });
    expect(job).toMatchObject({
      name: 'job greet',
      traceId: request?.traceId,
      parentSpanId: request?.spanId,
      links: [{ traceId: request?.traceId, spanId: request?.spanId }],
      attributes: { 'latchkey.job.queue': 'greet', 'latchkey.job.attempt': '1', 'latchkey.job.outcome': 'done' },
    });
    for (const { startTimeUnixNano: start, endTimeUnixNano: end, traceId } of spans) {
      expect(traceId).toBe(request?.traceId);
      expect(Math.abs(Number(start) / 1e6 - Date.now())).toBeLessThan(60_000);
      expect(Number(end)).toBeGreaterThanOrEqual(Number(start));
    }
    expect(collector.requests[0]).toMatchObject({
      path: '/v1/traces',
      headers: { 'content-type': 'application/json', 'x-collector-key': 'k ey' },
    });
    expect(collector.resource()).toMatchObject({
      'service.name': 'latchkey',
      'service.version': '1.2.3',
      'deployment.environment.name': 'test',
    });
    const lines = [...server.lines, ...log.written].join('\n');
    expect(lines).toMatch(new RegExp(`parent=GET-1 trace.id=${request?.traceId}$`, 'm'));
    expect(JSON.stringify(collector.requests)).not.toContain('s3cret');
  });

  test('a call sends trace headers only to the servers that the operator chose', async () => {
    const { tracing, close } = await traced();
    const server = await serve(tracing);
    await get(server, { traceparent: SAMPLED, tracestate: 'vendor=1', baggage: 'a=b', 'uber-trace-id': 'x' });
    await close();
    const spans = collector.spans();
    const calls = spans.filter(({ name }) => name === 'POST');
    const [told, untold] = peer.requests.map(({ headers }) => headers);
    expect(told).toMatchObject({ traceparent: `00-${CALLER.traceId}-${calls[0]?.spanId}-01`, tracestate: 'vendor=1' });
    expect(Object.keys({ ...told })).not.toContain('baggage');
    expect(Object.keys({ ...untold })).not.toContain('traceparent');
    expect(spans.find(({ kind }) => kind === 2)?.parentSpanId).toBe(CALLER.spanId);
  });

  test('a client that is not a trusted proxy has no effect: its headers are only read where everyone is accepted', async () => {
    for (const [setting, isRead] of [
      ['', false],
      [', accept_parent: everyone', true],
    ] as const) {
      const { tracing, close } = await traced(`exporter: otlp, sample_rate: 0${setting}`);
      const server = await serve(tracing, []);
      await get(server, { traceparent: SAMPLED, tracestate: 'vendor=1' });
      await close();
      const told = peer.requests.splice(0)[0]?.headers ?? {};
      expect(told['traceparent']).toMatch(isRead ? new RegExp(`^00-${CALLER.traceId}-.*-01$`) : /-00$/);
      expect(told['tracestate']).toBe(isRead ? 'vendor=1' : undefined);
      expect(collector.spans().length > 0).toBe(isRead);
    }
  });

  test('the parent decides on sampling; the log and calls carry the trace anyway', async () => {
    const { tracing, close } = await traced('exporter: otlp, sample_rate: 0');
    const server = await serve(tracing);
    await get(server, { traceparent: UNSAMPLED });
    await get(server);
    await get(server, { traceparent: SAMPLED });
    await close();
    expect(new Set(collector.spans().map(({ traceId }) => traceId))).toEqual(new Set([CALLER.traceId]));
    expect(collector.spans().filter(({ kind }) => kind === 2)).toHaveLength(1);
    const lines = await server.requestLines(3);
    expect(lines[0]).toMatch(new RegExp(`trace.id=${CALLER.traceId}$`));
    expect(lines[1]).toMatch(/trace.id=[0-9a-f]{32}$/);
    expect(peer.requests[0]?.headers['traceparent']).toMatch(/-00$/);
  });

  test('nothing is sent without an exporter; the log and jobs carry the trace of a valid traceparent', async () => {
    const { tracing, close } = await traced('exporter: none');
    const server = await serve(tracing);
    await get(server, { traceparent: SAMPLED });
    await get(server);
    await runJobs(tracing);
    await close();
    expect(collector.requests).toEqual([]);
    expect(peer.requests.flatMap(({ headers }) => Object.keys(headers))).not.toContain('traceparent');
    const [first, second] = await server.requestLines(2);
    expect(first).toMatch(new RegExp(`trace.id=${CALLER.traceId}$`));
    expect(second).not.toContain('trace.id');
    expect(
      log.written.filter((line) => line.includes('job.completed')).map((line) => line.replace(/.*parent=/, '')),
    ).toEqual([`GET-1 trace.id=${CALLER.traceId}`, 'GET-2']);
  });

  test.each([
    ['none', '[]', undefined],
    ['otlp', '[]', 'own'],
    ['otlp', '["jaeger"]', 'jaeger'],
    ['otlp', '["jaeger", "baggage", "tracecontext"]', 'w3c'],
  ])('exporter %s with propagators %s belongs to the trace: %s', async (exporter, propagators, expected) => {
    const { tracing, close } = await traced(`exporter: ${exporter}`, {
      LATCHKEY__TELEMETRY__TRACING__PROPAGATORS: propagators,
    });
    const server = await serve(tracing);
    await get(server, { traceparent: SAMPLED, 'uber-trace-id': 'abc123:def:0:1', baggage: 'a=b' });
    await close();
    const [line] = await server.requestLines(1);
    const traceId = / trace\.id=(\S+)$/.exec(line ?? '')?.[1];
    const known = {
      own: expect.stringMatching(/^[0-9a-f]{32}$/),
      jaeger: 'abc123'.padStart(32, '0'),
      w3c: CALLER.traceId,
    };
    expect(traceId).toEqual(expected === undefined ? undefined : Reflect.get(known, expected));
    if (expected === 'own') expect(traceId).not.toBe(CALLER.traceId);
    const told = peer.requests[0]?.headers;
    expect(told?.['uber-trace-id']?.toString().startsWith(`${traceId}:`) ?? false).toBe(propagators.includes('jaeger'));
    expect(told?.['baggage']).toBe(propagators.includes('baggage') ? 'a=b' : undefined);
  });

  test('a sign-in leaves no secret in its spans, including its URL', async () => {
    const { tracing, close } = await traced();
    await insertTestAccount(database.database, { username: 'alice', password: 'correct horse battery' });
    const pages = await startPages(database.database, { tracing });
    closers.push(() => pages.stop());
    const browser = pages.browser();
    const page = await browser.get('/login?kind=s3cret');
    const hidden = [...(page.forms[0]?.inputs.values() ?? [])].filter((value) => value.length > 8);
    expect(hidden.length).toBeGreaterThan(0);
    const response = await browser.submit({ username: 'alice', password: 'correct horse battery' });
    expect(response.status).toBe(303);
    const secrets = ['correct horse', 's3cret', ...hidden, ...browser.cookies.values()];
    await close();
    const sent = JSON.stringify(collector.requests);
    const names = collector.spans().map(({ name }) => name);
    expect(names).toContain('POST /login');
    expect(names).toContain('password hash');
    for (const secret of secrets) expect(sent).not.toContain(secret);
    for (const key of ['url.query', 'url.full', 'cookie']) expect(sent).not.toContain(key);
  });
});

describe('a failing collector', () => {
  /** Ends this many requests in a row, without a server. */
  function endTasks(tracing: Tracing, count: number): void {
    resumeTask(undefined, () => {
      for (let index = 0; index < count; index += 1) {
        const task = new Task(`GET-${index}`);
        tracing.beginRequest(task, {}, true);
        task.trace?.end({ name: 'GET /', attributes: {} });
      }
    });
  }

  test('that never responds delays no request and costs a bounded amount of memory', async () => {
    collector.status = undefined;
    const { tracing, close } = await traced('exporter: otlp', { OTEL_EXPORTER_OTLP_TIMEOUT: '1000' });
    endTasks(tracing, 600);
    await until(() => collector.requests.length > 0);
    const server = await serve(tracing);
    expect((await get(server)).status).toBe(200);
    endTasks(tracing, 10_000);
    collector.status = 200;
    // The unanswered batch is repeated, followed by the batches queued behind it.
    await until(() => collector.requests.length >= 8);
    await close();
    expect(new Set(collector.spans().map(({ spanId }) => spanId)).size).toBeLessThanOrEqual(4096 + 2 * 512);
    expect(log.lines.filter(({ event }) => event === 'tracing.dropped')).toHaveLength(1);
    expect(log.lines.find(({ event }) => event === 'tracing.dropped')?.level).toBe('warn');
  });

  test('that asks to retry gets the same spans again; one that rejects them loses them', async () => {
    collector.status = 503;
    const { tracing, close } = await traced();
    endTasks(tracing, 512);
    await until(() => collector.requests.length === 1);
    collector.status = 200;
    await until(() => collector.requests.length === 2);
    expect(collector.requests[1]?.body).toBe(collector.requests[0]?.body);
    collector.status = 400;
    endTasks(tracing, 512);
    await until(() => log.lines.some(({ event }) => event === 'tracing.dropped'));
    await close();
    expect(collector.requests).toHaveLength(3);
    expect(log.lines.find(({ event }) => event === 'tracing.dropped')?.fields).toEqual({
      spans: 512,
      reason: 'status 400',
    });
  });
});
