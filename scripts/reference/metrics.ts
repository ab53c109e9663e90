import type { Metric } from '../../src/platform/base/metric-kinds.ts';
import { METRICS } from '../../src/platform/base/metric-table.ts';
import { code, table } from './markdown.ts';

const ACROSS = { average: 'average', first: 'one of them', max: 'greatest', min: 'least', sum: 'sum' } as const;

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

What a service shows at \`/metrics\` with \`telemetry.metrics.exporter: prometheus\`. [Monitoring](../guides/monitoring.md)
says how to get at it and what is worth an alarm. This page is generated from the source; edit
\`src/platform/base/metric-table.ts\`, then run \`node scripts/generate-reference.js\`.

The last column says how the values of several processes (\`http.workers\`) become one. Times are in seconds. Counters are
there with 0 from the start. No label holds anything that a request brought.

${table(['Name', 'Type', 'Labels', 'Meaning', 'Several processes'], rows)}

## Values of labels

\`route\` is the pattern of the address (\`/consent/:grant_id\`) or \`unmatched\`, \`status\` the class of the status (\`2xx\`),
\`server\` a part of the service: \`homeserver\`, \`upstream:ID\` or \`provider\` with the id of a sign-in provider, \`captcha\`, \`breach_check\`,
\`otlp\` for the collector, \`sentry\`, and \`clients\` for keys, logos and sign-out addresses of applications. \`kind\` of sessions is
\`browser\`, \`oauth2\` (of people), \`compat\` or \`personal\`. \`method\` is \`_OTHER\` for methods that HTTP does not know, \`listener\` its name in \`http.listeners\`, and \`name\` that of a
statement of the source.

${table(['Metric', 'Label', 'Values'], known)}

## The process

${table(
  ['Name', 'Meaning'],
  [
    [
      '`process_cpu_seconds_total`, `process_cpu_user_seconds_total`, `process_cpu_system_seconds_total`',
      'processor time',
    ],
    ['`process_resident_memory_bytes`, `process_virtual_memory_bytes`, `process_heap_bytes`', 'memory'],
    ['`process_open_fds`, `process_max_fds`', 'file descriptors, on Linux'],
    ['`process_start_time_seconds`', 'when it started, since 1970'],
    ['`nodejs_eventloop_lag_seconds` and `nodejs_eventloop_lag_*_seconds`', 'how late the event loop is'],
    ['`nodejs_gc_duration_seconds`', 'garbage collection, by `kind`'],
    ['`nodejs_heap_size_*_bytes`, `nodejs_heap_space_size_*_bytes`, `nodejs_external_memory_bytes`', 'the heap of V8'],
    ['`nodejs_active_resources`, `nodejs_active_handles`, `nodejs_active_requests`', 'what keeps the process busy'],
    ['`nodejs_version_info`', 'the version of Node.js'],
  ],
)}
`;
}
