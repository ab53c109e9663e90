import type { Environment } from '#platform/config/dot-env.ts';
import type { Problem } from '#platform/config/problems.ts';
import type { Origin } from '#platform/config/tree.ts';
import { webUrl } from '#platform/config/values.ts';
import type { ListenVariables } from '#platform/http/http-options.ts';
import { LOG_LEVELS, type LogLevel } from '#platform/log/log-options.ts';
import { SSL_MODES } from '#platform/postgres/database-options.ts';
import { parseDsn } from '#platform/sentry/dsn.ts';
import { DSN_EXPECTED } from './sections/sentry.ts';

/** Settings from environment variables outside the `LATCHKEY__` tree (operations 1.4). */
export interface OtherVariables {
  readonly dataDir: string | undefined;
  /** Host and port of the default listener. */
  readonly host: string | undefined;
  readonly port: number | undefined;
  /** Sockets passed by the service manager. */
  readonly listen: ListenVariables;
  readonly log: LogLevels;
  /** `NO_COLOR` (no-color.org). */
  readonly isPlain: boolean;
  readonly problems: readonly Problem[];
}

export function otherVariables(environment: Environment, origin: Omit<Origin, 'source'>): OtherVariables {
  const problems: Problem[] = [];
  const refuse = (name: string, accepted: string): undefined => {
    const message = `expected ${accepted}, got ${JSON.stringify(environment[name])}`;
    problems.push({ key: undefined, message, at: { ...origin, source: name } });
  };
  const read = <T>(name: string, accepted: string, parse: (text: string) => T | undefined): T | undefined => {
    const text = environment[name];
    return text === undefined || text === '' ? undefined : (parse(text) ?? refuse(name, accepted));
  };
  read('PGPORT', 'an integer from 1 to 65535', (text) => portOf(text, 1));
  for (const signal of ['', 'METRICS_', 'TRACES_']) {
    const prefix = `OTEL_EXPORTER_OTLP_${signal}`;
    read(`${prefix}ENDPOINT`, 'an http or https URL without user info, query or fragment', webUrlOf);
    read(`${prefix}TIMEOUT`, 'a number of milliseconds', (text) => (/^[1-9]\d{0,5}$/.test(text) ? text : undefined));
  }
  read('OTEL_METRIC_EXPORT_INTERVAL', 'a number of milliseconds, at least 1000', (text) =>
    /^[1-9]\d{3,7}$/.test(text) ? text : undefined,
  );
  const sentryDsn = environment['SENTRY_DSN'] || undefined;
  if (sentryDsn !== undefined && parseDsn(sentryDsn) === undefined) {
    const message = `expected ${DSN_EXPECTED}, got [secret]`;
    problems.push({ key: undefined, message, at: { ...origin, source: 'SENTRY_DSN' } });
  }
  read('PGSSLMODE', `one of ${SSL_MODES.join(', ')}`, (text) => SSL_MODES.find((mode) => mode === text));
  return {
    // A service manager may pass several directories.
    dataDir: environment['LATCHKEY_DATA_DIR'] || environment['STATE_DIRECTORY']?.split(':')[0] || undefined,
    host: environment['LATCHKEY_HOST'] || undefined,
    port: read('PORT', 'an integer from 0 to 65535', (text) => portOf(text, 0)),
    listen: {
      pid: environment['LISTEN_PID'],
      count: environment['LISTEN_FDS'],
      names: environment['LISTEN_FDNAMES'],
    },
    log: read('LATCHKEY_LOG', '"level" or "level,target=level,..."', parseLogLevels) ?? NO_LEVELS,
    isPlain: (environment['NO_COLOR'] ?? '') !== '',
    problems,
  };
}

const KNOWN = new Set([
  ...['LATCHKEY_CONFIG', 'LATCHKEY_DATA_DIR', 'LATCHKEY_HOST', 'LATCHKEY_LOG', 'LATCHKEY_ADMIN_USERNAME'],
  ...['LATCHKEY_ADMIN_PASSWORD', 'LATCHKEY_ADMIN_PASSWORD_FILE', 'LATCHKEY_WORKER_HEALTH', 'LATCHKEY_SERVING_PROCESS'],
  'LATCHKEY_PROGRAM',
]);

/** Returns a warning for each unknown variable with the program's prefix. Variables of the tests are exempt. */
export function unknownVariables(environment: Environment): readonly string[] {
  return Object.keys(environment)
    .filter((name) => /^LATCHKEY_(?!_|TEST_)/.test(name) && !KNOWN.has(name))
    .sort()
    .map((name) => {
      const [section = '', ...rest] = name.slice('LATCHKEY_'.length).split('_');
      const example = rest.length === 0 ? 'LATCHKEY__HTTP__PUBLIC_BASE' : `LATCHKEY__${section}__${rest.join('_')}`;
      return `${name} is ignored: settings have two underscores between their keys, for example ${example}`;
    });
}

const NO_LEVELS: LogLevels = { level: undefined, targetLevels: {} };

function portOf(text: string, minimum: number): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : -1;
  return port >= minimum && port <= 65_535 ? port : undefined;
}

function webUrlOf(text: string): string | undefined {
  return webUrl({ allowQuery: false }).safeParse(text).data;
}

interface LogLevels {
  readonly level: LogLevel | undefined;
  readonly targetLevels: Readonly<Record<string, LogLevel>>;
}

/** Reads `LATCHKEY_LOG`: `level,target=level,...`; undefined when a part is neither. */
function parseLogLevels(text: string): LogLevels | undefined {
  const targetLevels: Record<string, LogLevel> = {};
  let level: LogLevel | undefined;
  for (const part of text.split(',').map((piece) => piece.trim())) {
    const [, target, name] = /^(?:([A-Za-z0-9_.-]+)=)?([a-z]+)$/.exec(part) ?? [];
    const known = LOG_LEVELS.find((candidate) => candidate === name);
    if (known === undefined) return undefined;
    if (target === undefined) level = known;
    else targetLevels[target] = known;
  }
  return { level, targetLevels };
}
