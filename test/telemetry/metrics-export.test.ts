import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openMetrics } from '#app/service/open-metrics.ts';
import { loadConfig } from '#config/load.ts';
import { systemClock } from '#platform/base/clock.ts';
import { metrics, reportTo } from '#platform/base/metrics.ts';
import { type Collector, metricsOf, startCollector } from '#test/support/collector.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { until } from '#test/support/route-server.ts';
import { startService } from '#test/support/service.ts';
import { METRICS } from '#vocabulary/metric-table.ts';

let collector: Collector;
let log: RecordingLog;
beforeEach(async () => {
  collector = await startCollector();
  log = new RecordingLog({ clock: systemClock });
});
afterEach(async () => {
  reportTo(undefined);
  await collector.close();
});

/** Starts a metrics export configured by these variables. */
async function exporting(environment: Record<string, string> = {}, intervalMs?: number) {
  const { config } = loadConfig({
    files: [],
    environment: {
      LATCHKEY__TELEMETRY__METRICS__EXPORTER: 'otlp',
      LATCHKEY__TELEMETRY__METRICS__ENDPOINT: collector.endpoint,
      ...environment,
    },
    flags: {},
    workingDirectory: '/nowhere',
  });
  const { metrics: set } = config.telemetry;
  const telemetry = { ...config.telemetry, metrics: { ...set, intervalMs: intervalMs ?? set.intervalMs } };
  const opened = await openMetrics(telemetry, { clock: systemClock, log, version: '1.2.3', isMember: false });
  if (opened === undefined) throw new Error('no metrics');
  return opened;
}

function last(): ReturnType<typeof metricsOf> {
  return metricsOf(collector.requests.at(-1)?.body ?? '');
}

describe('telemetry.metrics.exporter: otlp (operations 1.19, 7.2)', () => {
  test('the last values are sent on shutdown, with OpenTelemetry names', async () => {
    const exporter = { exporter: 'otlp', endpoint: `${collector.endpoint}/custom/metrics` };
    const service = await startService({ telemetry: { metrics: exporter } });
    await fetch(`${service.address}/health?probe=live&code=s3cret`, { headers: { cookie: 'c=s3cret' } });
    await fetch(`${service.address}/no/such/s3cret`);
    await service.registerUser('amira', 's3cret-password');
    expect(collector.requests).toEqual([]);
    await service.stop();
    expect(collector.requests.map(({ path }) => path)).toEqual(['/custom/metrics']);
    const sent = last();
    const requests = sent.get('http.server.request.duration');
    expect([requests?.kind, requests?.unit]).toEqual(['histogram', 's']);
    const health = requests?.points.find(({ attributes }) => attributes['http.route'] === '/health');
    expect(health).toMatchObject({
      attributes: {
        'latchkey.listener': 'web',
        'http.request.method': 'GET',
        'http.route': '/health',
        'http.response.status_class': '2xx',
      },
      count: '1',
    });
    expect(health?.bucketCounts).toHaveLength((health?.explicitBounds?.length ?? 0) + 1);
    expect(health?.bucketCounts?.reduce((sum, count) => sum + Number(count), 0)).toBe(1);
    expect(sent.get('latchkey.login_attempts')).toMatchObject({ kind: 'sum', isMonotonic: true });
    expect(sent.get('latchkey.login_attempts')?.points.map(({ asDouble }) => asDouble)).toEqual([0, 0, 0, 0, 0, 0]);
    expect(sent.get('db.client.connection.count')).toMatchObject({ kind: 'sum', isMonotonic: false });
    expect(sent.get('process.memory.usage')).toMatchObject({ kind: 'gauge', unit: 'By' });
    expect(sent.get('process.cpu.time')).toMatchObject({ kind: 'sum', unit: 's', isMonotonic: true });
    expect(sent.get('latchkey.password_hash')).toMatchObject({ kind: 'histogram', unit: 's' });
    expect([...sent.keys()].filter((name) => /^[^n].*(?:_total|_seconds|_bytes)$/.test(name))).toEqual([]);
    expect(JSON.stringify(collector.requests)).not.toContain('s3cret');
  });

  test('with the names of MAS, instruments have its names, units and attributes', async () => {
    const opened = await exporting({ LATCHKEY__TELEMETRY__METRICS__NAMES: 'mas' });
    const labels = { listener: 'web', method: 'GET', route: '/login', status: '404' };
    metrics?.observe('http_server_duration_seconds', labels, 0.02);
    metrics?.observe('latchkey_activity_flush_seconds', {}, 0.5);
    opened.registry.readGauges(async (set) => set('db_pool_connections', { state: 'used' }, 3));
    await opened.close();
    const sent = last();
    expect(sent.get('http.server.duration')).toMatchObject({
      ...{ kind: 'histogram', unit: '' },
      points: [
        {
          attributes: {
            'network.protocol.name': 'http',
            'http.request.method': 'GET',
            'http.route': '/login',
            'http.response.status_code': '404',
            'mas.listener.name': 'web',
          },
          sum: 20,
        },
      ],
    });
    expect(sent.get('mas.activity_tracker.flush_time')).toMatchObject({ unit: 'ms', points: [{ sum: 500 }] });
    expect(sent.get('db.connections.usage')).toMatchObject({ kind: 'sum', isMonotonic: false });
    expect(sent.get('db.connections.usage')?.points).toMatchObject([{ attributes: { state: 'used' }, asDouble: 3 }]);
    expect(sent.get('mas.oauth2.token_request')).toMatchObject({ kind: 'sum', isMonotonic: true, unit: '' });
    expect(sent.has('latchkey.rate_limited')).toBe(true);
    for (const name of ['http.server.request.duration', 'latchkey.oauth2_token_requests', 'target_info']) {
      expect([name, sent.has(name)]).toEqual([name, false]);
    }
  });

  test('each counter of the table is sent under its own name', async () => {
    const opened = await exporting();
    await opened.close();
    const names = [...last().keys()];
    expect(new Set(names).size).toBe(names.length);
    const counters = Object.values(METRICS).filter((metric) => metric.kind === 'counter' && 'known' in metric);
    expect(names.length).toBeGreaterThan(counters.length);
    expect(collector.resource()).toMatchObject({ 'service.name': 'latchkey', 'service.version': '1.2.3' });
  });

  test('values are sent in the interval of OTEL_METRIC_EXPORT_INTERVAL, cumulative since the start', async () => {
    const opened = await exporting({
      OTEL_METRIC_EXPORT_INTERVAL: '1000',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=other',
      OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'x-collector-key=k%20ey',
      OTEL_RESOURCE_ATTRIBUTES: 'service.namespace=test',
    });
    metrics?.count('latchkey_log_dropped_total', {}, 2);
    await until(() => collector.requests.length >= 2);
    metrics?.count('latchkey_log_dropped_total', {}, 3);
    await opened.close();
    const first = metricsOf(collector.requests[0]?.body ?? '');
    expect(first.get('latchkey.log_dropped')?.points).toMatchObject([{ asDouble: 2, attributes: {} }]);
    expect(last().get('latchkey.log_dropped')?.points).toMatchObject([{ asDouble: 5 }]);
    expect(collector.requests[0]).toMatchObject({ path: '/v1/metrics', headers: { 'x-collector-key': 'k ey' } });
    expect(collector.resource()).toMatchObject({ 'service.namespace': 'test' });
  });

  test('the export is retried when the collector asks for it; a rejection is logged once', async () => {
    collector.status = 429;
    const opened = await exporting({}, 50);
    await until(() => collector.requests.length === 1);
    collector.status = 200;
    await until(() => collector.requests.length === 2);
    expect(collector.requests[1]?.body).toBe(collector.requests[0]?.body);
    expect(log.lines).toEqual([]);
    collector.status = 400;
    await until(() => collector.requests.length >= 4);
    collector.status = 200;
    await until(() => log.lines.some(({ event }) => event === 'metrics.sent'));
    await opened.close();
    expect(log.lines.map(({ event, level, fields }) => [event, level, fields])).toEqual([
      ['metrics.failed', 'warn', { reason: 'status 400' }],
      ['metrics.sent', 'info', {}],
    ]);
  });

  test('an unresponsive collector delays shutdown by at most five seconds', async () => {
    collector.status = undefined;
    const opened = await exporting();
    const startedAt = performance.now();
    await opened.close();
    expect(performance.now() - startedAt).toBeLessThan(6_000);
    expect(collector.requests).toHaveLength(1);
  });

  test.each([
    ['OTEL_METRIC_EXPORT_INTERVAL', '10', 'expected a number of milliseconds, at least 1000, got "10"'],
    ['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'collector:4318', 'expected an http or https URL'],
    ['OTEL_EXPORTER_OTLP_METRICS_TIMEOUT', '5s', 'expected a number of milliseconds, got "5s"'],
  ])('%s=%s is refused', async (name, value, problem) => {
    await expect(exporting({ [name]: value })).rejects.toThrow(problem);
  });

  test('the URL derives from OTEL_EXPORTER_OTLP_ENDPOINT when none is set; a metrics URL is used unchanged', () => {
    const endpointOf = (environment: Record<string, string>): string =>
      loadConfig({ files: [], environment, flags: {}, workingDirectory: '/nowhere' }).config.telemetry.metrics.endpoint;
    const all = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://all.example/otlp/' };
    expect(endpointOf(all)).toBe('https://all.example/otlp/v1/metrics');
    const own = { ...all, OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'https://own.example/in' };
    expect(endpointOf(own)).toBe('https://own.example/in');
    const set = { ...own, LATCHKEY__TELEMETRY__METRICS__ENDPOINT: 'https://set.example' };
    expect(endpointOf(set)).toBe('https://set.example/v1/metrics');
  });
});
