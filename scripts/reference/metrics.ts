import type { Metric, MetricRename, MetricRow } from '../../src/platform/base/metric-kinds.ts';
import { MAS_METRICS } from '../../src/vocabulary/mas-metrics.ts';
import { METRICS } from '../../src/vocabulary/metric-table.ts';
import { code, table } from './markdown.ts';

/** Instruments of MAS for which Latchkey has no measurement. */
const MISSING_IN_LATCHKEY = [
  'db.connections.max',
  'db.client.connections.create_time',
  'mas.activity_tracker.messages',
];

const ACROSS = { average: 'average', first: 'any', max: 'maximum', min: 'minimum', sum: 'sum' } as const;

/** Lists all metrics by name. */
export function metricsPage(): string {
  const metrics = Object.entries<Metric<'counter' | 'gauge' | 'histogram', string>>(METRICS);
  const rows = metrics.map(([name, { kind, labels, help, across }]) => [
    code(name),
    kind,
    labels.map(code).join(', '),
    help,
    ACROSS[across ?? 'sum'],
  ]);
  const known = metrics.flatMap(([name, { known: values = {} }]) =>
    Object.entries<readonly string[]>(values).map(([label, list]) => [
      code(name),
      code(label),
      list.map(code).join(', '),
    ]),
  );
  return `# Metrics

Metrics published at \`/metrics\` with \`telemetry.metrics.exporter: prometheus\`. [Monitoring](../guides/monitoring.md)
describes how to collect them and which alerts to set up. This page is generated from the source; edit
\`src/vocabulary/metric-table.ts\`, then run \`node scripts/generate-reference.js\`.

The last column shows how the values of several processes (\`http.workers\`) are aggregated. Times are in seconds.
Counters start at 0 and are always present. Labels never contain values from requests.

${table(['Name', 'Type', 'Labels', 'Meaning', 'Aggregation'], rows)}

## Values of labels

\`route\` is the route pattern (\`/consent/:grant_id\`) or \`unmatched\`, \`status\` the status class (\`2xx\`). \`server\` is the
destination: \`homeserver\`, \`upstream:ID\` or \`provider\` with the id of a sign-in provider, \`captcha\`, \`breach_check\`,
\`otlp\` for the collector, \`sentry\`, or \`clients\` for keys, logos and logout endpoints of clients. \`kind\` of sessions is
\`browser\`, \`oauth2\` (of users), \`compat\` or \`personal\`. \`method\` is \`_OTHER\` for unknown HTTP methods, \`listener\` is the
name in \`http.listeners\`, and \`name\` is that of a statement in the source.

${table(['Metric', 'Label', 'Values'], known)}

## Names of Matrix Authentication Service

With \`telemetry.metrics.names: mas\`, these metrics are exported under the names of Matrix Authentication Service instead,
with its labels. This is the default with a configuration file of it. All others keep their names. Durations are in
milliseconds. In the text of \`/metrics\`, periods become \`_\`, counters end with \`_total\`, and histograms with a
declared unit with \`_milliseconds\`. If two series differ only in a label that is left out, their values are added up.

${table(['Name', 'Instrument', 'Unit', 'Labels', 'Differences'], masRows())}

Latchkey has no measurement for ${MISSING_IN_LATCHKEY.map(code).join(', ')}.

## The process

${table(
  ['Name', 'Meaning'],
  [
    ['`process_cpu_seconds_total`, `process_cpu_user_seconds_total`, `process_cpu_system_seconds_total`', 'CPU time'],
    ['`process_resident_memory_bytes`, `process_virtual_memory_bytes`, `process_heap_bytes`', 'memory'],
    ['`process_open_fds`, `process_max_fds`', 'file descriptors, on Linux'],
    ['`process_start_time_seconds`', 'start time, as a Unix timestamp'],
    ['`nodejs_eventloop_lag_seconds` and `nodejs_eventloop_lag_*_seconds`', 'event loop delay'],
    ['`nodejs_gc_duration_seconds`', 'garbage collection, by `kind`'],
    ['`nodejs_heap_size_*_bytes`, `nodejs_heap_space_size_*_bytes`, `nodejs_external_memory_bytes`', 'V8 heap'],
    [
      '`nodejs_active_resources`, `nodejs_active_handles`, `nodejs_active_requests`',
      'active resources, handles and requests',
    ],
    ['`nodejs_version_info`', 'Node.js version'],
  ],
)}
`;
}

function masRows(): string[][] {
  const rows: [string, MetricRename][] = Object.entries(MAS_METRICS);
  const metrics: Readonly<Record<string, MetricRow>> = METRICS;
  return rows.map(([own, rename]) => {
    const labels = Object.keys(labelsOf(rename, metrics[own]?.labels ?? []));
    return [code(own), code(rename.name), rename.unit, labels.map(code).join(', '), rename.help];
  });
}

/** Tries label values until a series is exported. */
function labelsOf({ labels }: MetricRename, names: readonly string[]): Readonly<Record<string, string>> {
  const tried = ['success', 'active'].map((result) => {
    const values: Readonly<Record<string, string>> = { result, method: 'password', kind: 'create' };
    return labels(Object.fromEntries(names.map((name) => [name, values[name] ?? ''])));
  });
  return tried.find((made) => made !== undefined) ?? {};
}
