/** Defaults of Matrix Authentication Service that differ from Latchkey's, where users or operators would notice. */
import {
  type MappingNode,
  type Node,
  nodeAt,
  nodeOf,
  type Origin,
  type Path,
  pathText,
  withValue,
} from '#platform/config/tree.ts';
import { DEFAULT_LISTENERS } from './listeners.ts';
import type { MasNote } from './translation.ts';
import { textAt } from './values.ts';

export interface MasDefault {
  /** In the document of Latchkey. */
  readonly path: Path;
  /** Each item of this list gets the default. The other paths are below an item. */
  readonly list?: Path;
  readonly value: unknown;
  /** Why, for the reference and the report of a conversion. */
  readonly says: string;
  /** Keys that make the default unnecessary. */
  readonly unless?: readonly Path[];
  /** The default applies only with this setting. */
  readonly when?: (root: MappingNode) => boolean;
}

const DATABASE_KEYS = [
  'uri',
  'uri_file',
  'host',
  'port',
  'socket',
  'username',
  'password',
  'password_file',
  'database',
];

export const MAS_DEFAULTS: readonly MasDefault[] = [
  {
    path: ['protocol_name'],
    value: 'matrix',
    says: 'paths, scopes and actions have the names of Matrix',
  },
  {
    path: ['http', 'public_base'],
    value: 'http://[::]:8080/',
    says: 'the default of MAS',
    when: (root) => nodeAt(root, ['http']) === undefined,
  },
  {
    path: ['http', 'listeners'],
    value: DEFAULT_LISTENERS,
    says: 'MAS serves the admin API on no listener by default, and health on port 8081 only',
  },
  {
    list: ['http', 'listeners'],
    path: ['cleartext_http2'],
    value: true,
    says: 'MAS accepts HTTP/2 without TLS',
    unless: [['cleartext_http2'], ['tls']],
  },
  {
    path: ['database', 'uri'],
    value: 'postgresql://',
    says: 'without a database, MAS connects as the variables PGHOST, PGUSER and so on say',
    unless: DATABASE_KEYS.map((key) => ['database', key]),
  },
  {
    path: ['account', 'password_registration_email_required'],
    value: true,
    says: 'MAS requires an email address even if no emails are sent',
  },
  { path: ['graphql', 'playground'], value: false, says: 'off in MAS unless the listener enables it' },
  {
    path: ['oauth', 'device_code_user_code_auto_fill_enabled'],
    value: false,
    says: 'off in MAS: users type the code',
  },
  {
    path: ['oauth', 'introspection_callers'],
    value: 'confidential',
    says: 'MAS answers every client with a secret, including those that registered themselves',
  },
  {
    path: ['compat', 'logout_all'],
    value: 'compat_only',
    says: 'MAS keeps OAuth sessions, and requires that the client agrees to that',
  },
  {
    path: ['policy', 'data', 'registration', 'banned_usernames', 'literals'],
    value: [],
    says: 'MAS bans no usernames by default',
  },
  {
    path: ['rate_limiting', 'login', 'per_account'],
    value: { burst: 1800, per_second: 0.5 },
    says: 'MAS permits 1800 attempts per hour',
  },
  {
    path: ['telemetry', 'metrics', 'names'],
    value: 'mas',
    says: 'dashboards and alerts keep the names of MAS',
    when: (root) => (textAt(root, ['telemetry', 'metrics', 'exporter']) ?? 'none') !== 'none',
  },
  {
    path: ['telemetry', 'tracing', 'propagators'],
    value: [],
    says: 'MAS reads no trace headers by default',
    when: (root) => (textAt(root, ['telemetry', 'tracing', 'exporter']) ?? 'none') !== 'none',
  },
];

export interface Completed {
  readonly root: MappingNode;
  readonly notes: readonly MasNote[];
}

/** Sets the defaults that the document does not set. */
export function withMasDefaults(document: MappingNode): Completed {
  const at: Origin = { rank: document.at.rank, directory: document.at.directory, source: 'default of MAS' };
  const notes: MasNote[] = [];
  let root: Node = document;
  for (const { list, path, value, says, unless = [path], when } of MAS_DEFAULTS) {
    if (when?.(document) === false) continue;
    for (const place of list === undefined ? [[]] : itemsOf(document, list)) {
      if (unless.some((other) => nodeAt(document, [...place, ...other]) !== undefined)) continue;
      const complete = [...place, ...path];
      root = withValue(root, complete, nodeOf(value, at), at) ?? root;
      notes.push({ kind: 'change', key: pathText(complete), message: `set to ${JSON.stringify(value)}: ${says}`, at });
    }
  }
  return { root: root.kind === 'mapping' ? root : document, notes };
}

/** Returns the paths of the mappings in a list. */
function itemsOf(document: MappingNode, list: Path): Path[] {
  const node = nodeAt(document, list);
  if (node?.kind !== 'list') return [];
  return node.items.flatMap(({ kind }, index) => (kind === 'mapping' ? [[...list, index]] : []));
}
