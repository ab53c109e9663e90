/** Describes the configuration keys from the validating schema, and generates the manual page. */
import { stringify } from 'yaml';
import { type MappingShape, mappingOf, type Shape } from '#platform/config/shape.ts';
import { configShape } from '../config.ts';

/** The manual page. */
export const MANUAL_PAGE = 'docs/reference/configuration.md';

const INTRODUCTION = `# Configuration reference

Generated from the schema that validates the configuration; do not edit by hand.

Settings are read from these sources, in order of precedence: command-line flags, the environment, configuration files
(later files override earlier ones), generated secrets in the data directory, and the defaults below.

- **Files** are YAML 1.2 or JSON: each \`--config PATH\`, else those in \`LATCHKEY_CONFIG\` (separated by \`:\`),
  else the first of \`./latchkey.yaml\`, \`./config.yaml\` and \`/etc/latchkey/config.yaml\`. Mappings of several files are
  merged, lists are replaced, and \`null\` resets a key that an earlier file set. Relative paths are resolved from the
  directory of the file. Top-level keys that begin with \`x-\` are ignored and can hold YAML anchors.
- **Environment**: \`LATCHKEY__HTTP__PUBLIC_BASE\` sets \`http.public_base\`. A number is an index in a list, lists and
  mappings are JSON, and an empty value resets the key to its default. A \`.env\` file in the working directory is read as
  well; it never overrides variables that are set.
- **Durations** are seconds, or a number with \`ms\`, \`s\`, \`m\`, \`h\` or \`d\`; **sizes** are bytes, or a number with
  \`KiB\` or \`MiB\`.
- **Secrets** are never printed. Each secret \`k\` can be set as \`k_file\`, the path of a file that contains it.

| Other variable | Meaning |
|---|---|
| \`LATCHKEY_CONFIG\` | configuration files, separated by \`:\` |
| \`LATCHKEY_DATA_DIR\`, \`STATE_DIRECTORY\` | default of \`data_dir\` |
| \`NOTIFY_SOCKET\`, \`WATCHDOG_USEC\`, \`WATCHDOG_PID\` | notification of the service manager: start, reload, stop and watchdog (sd_notify(3)) |
| \`LATCHKEY_HOST\`, \`PORT\` | host and port of the default listener |
| \`LATCHKEY_LOG\` | log levels: \`level,target=level,...\`, where a target is an event name or a prefix of it |
| \`MAS_CONFIG\`, \`MAS_…\`, \`RUST_LOG\` | files, settings and log level of [Matrix Authentication Service](mas-configuration.md) |
| \`NO_COLOR\` | any value but an empty one: no colors with \`logging.color: auto\`. Only the log has colors |
| \`LATCHKEY_WORKER_HEALTH\` | \`address:port\` of the health endpoint \`GET /health\` of \`latchkey worker\` |
| \`OTEL_EXPORTER_OTLP_ENDPOINT\`, \`OTEL_EXPORTER_OTLP_HEADERS\`, \`OTEL_EXPORTER_OTLP_TIMEOUT\`, the same with \`_TRACES\` or \`_METRICS\` after \`OTLP\`, \`OTEL_SERVICE_NAME\`, \`OTEL_RESOURCE_ATTRIBUTES\` | destination and resource attributes of traces and metrics, overridden by \`telemetry.tracing\` and \`telemetry.metrics\` |
| \`SENTRY_DSN\` | default of \`telemetry.sentry.dsn\` |
| \`OTEL_METRIC_EXPORT_INTERVAL\` | interval of metrics exports in milliseconds, default 60000 |
| \`PGHOST\`, \`PGPORT\`, \`PGUSER\`, \`PGPASSWORD\`, \`PGDATABASE\`, \`PGSSLMODE\`, \`PGSSLROOTCERT\`, \`PGSSLCERT\`, \`PGSSLKEY\`, \`PGAPPNAME\`, \`PGOPTIONS\`, \`PGTARGETSESSIONATTRS\` | defaults of the PostgreSQL connection, as in libpq. Password files (\`PGPASSFILE\`, \`~/.pgpass\`) are not read |

\`latchkey config check\` validates the configuration, \`latchkey config dump --defaults\` prints the effective settings, and
\`latchkey config schema\` prints the JSON Schema for editors.
`;

/** Returns the page stored as `docs/reference/configuration.md`. */
export function configManualText(): string {
  return [
    INTRODUCTION,
    ...keySections().map(({ title, description, entries }) => {
      const text = description === undefined ? '' : `${description}\n\n`;
      return `## ${title}\n\n${text}${table(entries)}`;
    }),
  ].join('\n');
}

/** A section of the manual page. */
export interface KeySection {
  /** Key of the section; empty for the keys at the top level. */
  readonly name: string;
  /** Heading in Markdown. */
  readonly title: string;
  /** Fragment of the heading's URL, as GitHub and other renderers of Markdown derive it. */
  readonly anchor: string;
  readonly description: string | undefined;
  readonly entries: readonly KeyEntry[];
}

/** What the manual says about one key. */
export interface KeyEntry {
  /** `http.listeners[].name` */
  readonly name: string;
  readonly shape: Shape;
  readonly type: string;
  /** In Markdown. */
  readonly defaultText: string;
  /** In Markdown. */
  readonly meaning: string;
}

/** Returns all keys in the order of the manual. */
export function keySections(): readonly KeySection[] {
  const root = configShape();
  const scalars = new Map([...root.keys].filter(([, shape]) => shape.kind === 'scalar'));
  const sections = [...root.keys].filter(([, shape]) => shape.kind !== 'scalar');
  const topLevel = { ...named('', 'Top level'), description: undefined, entries: entriesOf(scalars, '') };
  return [
    topLevel,
    ...sections.map(([name, shape]) => {
      const aliases = (shape.hints.aliases ?? []).map((alias) => ` (or \`${alias}\`)`).join('');
      const { description } = shape;
      return { ...named(name, `\`${name}\`${aliases}`), description, entries: entriesOf(new Map([[name, shape]]), '') };
    }),
  ];
}

function named(name: string, title: string) {
  const anchor = title
    .toLowerCase()
    .replaceAll(/[^a-z0-9_ -]/g, '')
    .replaceAll(' ', '-');
  return { name, title, anchor };
}

function table(entries: readonly KeyEntry[]): string {
  const rows = entries.map(({ name, type, defaultText, meaning }) => {
    return `| ${[`\`${name}\``, type, defaultText, meaning].map(cellText).join(' | ')} |`;
  });
  return `${['| Key | Type | Default | Meaning |', '|---|---|---|---|', ...rows].join('\n')}\n`;
}

function entriesOf(keys: MappingShape['keys'], path: string): KeyEntry[] {
  return [...keys].flatMap(([key, shape]) => {
    // `_file` twins of secrets are explained once, at the top.
    if (shape.hints.fileOf !== undefined) return [];
    const name = path === '' ? key : `${path}.${key}`;
    if (shape.kind === 'mapping') return entriesOf(shape.keys, name);
    const inner = shape.kind === 'list' ? mappingOf(shape.element) : undefined;
    const isListOfMappings = shape.kind === 'list' && shape.element.kind === 'mapping';
    const below = isListOfMappings && inner !== undefined ? entriesOf(inner.keys, `${name}[]`) : [];
    const entry = { name, shape, type: typeText(shape), defaultText: defaultText(shape) };
    return [{ ...entry, meaning: shape.description ?? '' }, ...below];
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
