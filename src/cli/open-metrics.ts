/** The metrics of a process that serves or works, as `telemetry.metrics` wants them. */
import type { Config } from '#config/config.ts';
import { type MetricsPage, reportTo } from '#platform/base/metrics.ts';
import type { MetricsRegistry } from '#platform/metrics/registry.ts';

export interface OpenMetrics {
  readonly registry: MetricsRegistry;
  /** Undefined unless they are read at `/metrics`. */
  readonly page: MetricsPage | undefined;
}

/** Begins to count; loads nothing when no metrics are wanted. @param isMember one of several serving processes */
export async function openMetrics(
  { metrics }: Config['telemetry'],
  isMember: boolean,
): Promise<OpenMetrics | undefined> {
  if (metrics.exporter === 'none') return undefined;
  const { MetricsRegistry, renderMetrics } = await import('#platform/metrics/registry.ts');
  const { SharedMetrics } = await import('./gathered-metrics.ts');
  const registry = new MetricsRegistry();
  reportTo(registry);
  const shared = isMember ? new SharedMetrics(registry) : undefined;
  const gather = async () => (shared === undefined ? [await registry.values()] : await shared.gather());
  return { registry, page: { render: async (format) => await renderMetrics(await gather(), format) } };
}
