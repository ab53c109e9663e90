/** Generates the manual page of the configuration keys from the validating schema. Only commands import this module. */
import { stringify } from 'yaml';
import { type MappingShape, mappingOf, type Shape } from '#platform/config/shape.ts';
import { configShape } from '../config.ts';

const INTRODUCTION = `# Configuration reference

Generated from the schema that validates the configuration; do not edit by hand.

A setting comes from the first of these that has it: a command-line flag, the environment, the configuration files
(the last one named wins), the generated secrets in the data directory, the default below.

- **Files** are YAML 1.2 (JSON works too): each \`--config PATH\`, else those of \`LATCHKEY_CONFIG\` (separated by \`:\`),
  else the first of \`./latchkey.yaml\`, \`./config.yaml\` and \`/etc/latchkey/config.yaml\`. Mappings of several files
  merge, lists replace one another, \`null\` takes back what an earlier file set. Relative paths start at the file that
  names them. Keys at the top that begin with \`x-\` are ignored, as a place for anchors.
- **Environment**: \`LATCHKEY__HTTP__PUBLIC_BASE\` sets \`http.public_base\`; a number is a position in a list; lists and
  mappings are written in JSON; an empty value takes the key back to its default. A \`.env\` file in the working
  directory is read as well and never overrides a variable that is set.
- **Durations** are seconds, or a number with \`ms\`, \`s\`, \`m\`, \`h\` or \`d\`; **sizes** are bytes, or a number with
  \`KiB\` or \`MiB\`.
- **Secrets** are never printed. Each secret \`k\` may be given as \`k_file\`, the path of a file that holds it.

| Other variable | Meaning |
|---|---|
| \`LATCHKEY_CONFIG\` | configuration files, separated by \`:\` |
| \`LATCHKEY_DATA_DIR\`, \`STATE_DIRECTORY\` | default of \`data_dir\` |
| \`NOTIFY_SOCKET\`, \`WATCHDOG_USEC\`, \`WATCHDOG_PID\` | how the service manager is told of start, reload, stop and life (sd_notify(3)) |
| \`LATCHKEY_HOST\`, \`PORT\` | host and port of the default listener |
| \`LATCHKEY_LOG\` | log levels: \`level,target=level,...\`, where a target is an event or the beginning of its name |
| \`LATCHKEY_WORKER_HEALTH\` | where \`latchkey worker\` answers \`GET /health\`: \`address:port\` |
| \`OTEL_EXPORTER_OTLP_ENDPOINT\`, \`OTEL_EXPORTER_OTLP_HEADERS\`, \`OTEL_EXPORTER_OTLP_TIMEOUT\`, the same with \`_TRACES\` or \`_METRICS\` after \`OTLP\`, \`OTEL_SERVICE_NAME\`, \`OTEL_RESOURCE_ATTRIBUTES\` | where spans and metrics go and what they say of the service, below \`telemetry.tracing\` and \`telemetry.metrics\` |
| \`SENTRY_DSN\` | \`telemetry.sentry.dsn\`, unless that is set |
| \`OTEL_METRIC_EXPORT_INTERVAL\` | milliseconds between two exports of metrics, 60000 unless set |
| \`PGHOST\`, \`PGPORT\`, \`PGUSER\`, \`PGPASSWORD\`, \`PGDATABASE\`, \`PGSSLMODE\` | what a PostgreSQL connection leaves open |

\`latchkey config check\` tells what is wrong, \`latchkey config dump --defaults\` what is in force, and
\`latchkey config schema\` prints the JSON Schema for editors.
`;

/** Returns the page stored as `docs/reference/configuration.md`. */
export function configManualText(): string {
  const root = configShape();
  const scalars = new Map([...root.keys].filter(([, shape]) => shape.kind === 'scalar'));
  const sections = [...root.keys].filter(([, shape]) => shape.kind !== 'scalar');
  return [
    INTRODUCTION,
    '## Top level\n',
    table({ ...root, keys: scalars }, ''),
    ...sections.map(([name, shape]) => section(name, shape)),
  ].join('\n');
}

function section(name: string, shape: Shape): string {
  const aliases = (shape.hints.aliases ?? []).map((alias) => ` (or \`${alias}\`)`).join('');
  const description = shape.description === undefined ? '' : `${shape.description}\n`;
  return `## \`${name}\`${aliases}\n\n${description}\n${table({ ...emptyMapping, keys: new Map([[name, shape]]) }, '')}`;
}

const emptyMapping: Omit<MappingShape, 'keys'> = {
  kind: 'mapping',
  hints: {},
  description: undefined,
  defaultValue: undefined,
  isRequired: false,
  acceptsNull: false,
};

function table(mapping: MappingShape, path: string): string {
  const rows = rowsOf(mapping, path).map((cells) => `| ${cells.map(cellText).join(' | ')} |`);
  return `${['| Key | Type | Default | Meaning |', '|---|---|---|---|', ...rows].join('\n')}\n`;
}

type Row = readonly [key: string, type: string, defaultValue: string, meaning: string];

function rowsOf(mapping: MappingShape, path: string): Row[] {
  return [...mapping.keys].flatMap(([name, shape]) => {
    // `_file` twins of secrets are explained once, at the top.
    if (shape.hints.fileOf !== undefined) return [];
    const key = path === '' ? name : `${path}.${name}`;
    if (shape.kind === 'mapping') return rowsOf(shape, key);
    const inner = shape.kind === 'list' ? mappingOf(shape.element) : undefined;
    const isListOfMappings = shape.kind === 'list' && shape.element.kind === 'mapping';
    const below = isListOfMappings && inner !== undefined ? rowsOf(inner, `${key}[]`) : [];
    return [[`\`${key}\``, typeText(shape), defaultText(shape), shape.description ?? ''], ...below];
  });
}

function typeText(shape: Shape): string {
  const name = shape.kind === 'list' ? listText(shape.element) : (shape.hints.type ?? shape.kind);
  return shape.acceptsNull ? `${name}, or \`null\`` : name;
}

function listText(element: Shape): string {
  if (element.kind === 'mapping') return 'list of mappings';
  const alternative = mappingOf(element);
  const mapping = alternative === undefined ? '' : ` or \`{${[...alternative.keys.keys()].join(', ')}}\``;
  return `list of: ${element.hints.type ?? element.kind}${mapping}`;
}

function defaultText(shape: Shape): string {
  if (shape.hints.defaultText !== undefined) return shape.hints.defaultText;
  if (shape.defaultValue !== undefined) {
    return `\`${stringify(shape.defaultValue, { collectionStyle: 'flow', lineWidth: 0 }).trim()}\``;
  }
  return shape.isRequired ? 'required' : 'none';
}

function cellText(text: string): string {
  return text.replaceAll('|', '\\|');
}
