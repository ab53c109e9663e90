/** Metrics of a serving or working process, as configured in `telemetry.metrics`. */
import type { Config } from '#config/config.ts';
import type { Clock } from '#platform/base/clock.ts';
import type { Log } from '#platform/base/log.ts';
import { type MetricsPage, reportTo } from '#platform/base/metrics.ts';
import type { MetricsExporterOptions } from '#platform/metrics/metrics-exporter.ts';
import type { MetricsRegistry } from '#platform/metrics/registry.ts';
import type { RenamedMetrics } from '#platform/metrics/renamed-metrics.ts';
import { METRICS } from '#vocabulary/metric-table.ts';
import { openPost, sourceOf } from './post-documents.ts';

export interface OpenMetrics {
  readonly registry: MetricsRegistry;
  /** Undefined unless metrics are exposed at `/metrics`. */
  readonly page: MetricsPage | undefined;
  /** Exports the last values, for a few seconds at most. */
  close(): Promise<void>;
}

interface MetricsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  /** One of several serving processes. */
  readonly isMember: boolean;
}

/** Starts collecting. Imports nothing if metrics are disabled. */
export async function openMetrics(
  { metrics }: Config['telemetry'],
  { clock, log, version, isMember }: MetricsDeps,
): Promise<OpenMetrics | undefined> {
  const { exporter, intervalMs } = metrics;
  if (exporter === 'none') return undefined;
  const { MetricsRegistry, renderMetrics } = await import('#platform/metrics/registry.ts');
  const renamed = metrics.names === 'mas' ? await masNames() : undefined;
  const registry = new MetricsRegistry(renamed?.collected ?? METRICS);
  reportTo(registry);
  if (exporter !== 'prometheus') {
    const { MetricsExporter } = await import('#platform/metrics/metrics-exporter.ts');
    const post = openPost(exporter, metrics);
    const sender = new MetricsExporter({
      ...{
        registry: renamed === undefined ? registry : renamedRegistry(registry, renamed),
        intervalMs,
        clock,
        log,
        post,
      },
      ...sourceOf(metrics, version),
    });
    return { registry, page: undefined, close: () => sender.close() };
  }
  const { SharedMetrics } = await import('./gathered-metrics.ts');
  const shared = isMember ? new SharedMetrics(registry) : undefined;
  const gather = async () => (shared === undefined ? [await registry.values()] : await shared.gather());
  const named = async () => {
    const processes = await gather();
    return renamed === undefined ? processes : processes.map((values) => renamed.rename(values, 'text'));
  };
  const page: MetricsPage = { render: async (format) => await renderMetrics(await named(), format) };
  return { registry, page, close: async () => {} };
}

async function masNames(): Promise<RenamedMetrics> {
  const [{ RenamedMetrics }, { MAS_METRICS }] = await Promise.all([
    import('#platform/metrics/renamed-metrics.ts'),
    import('#vocabulary/mas-metrics.ts'),
  ]);
  return new RenamedMetrics(METRICS, MAS_METRICS);
}

function renamedRegistry(registry: MetricsRegistry, renamed: RenamedMetrics): MetricsExporterOptions['registry'] {
  return { table: renamed.instruments, values: async () => renamed.rename(await registry.values(), 'instruments') };
}
