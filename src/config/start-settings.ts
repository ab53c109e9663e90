/** Which settings a configuration reload applies, and which need a restart (operations 8.6). */
import type { MappingNode, Node, Path } from '#platform/config/tree.ts';
import { nodeAt, pathText, withValue } from '#platform/config/tree.ts';
import type { Config } from './config.ts';
import { tlsPaths } from './tls-pairs.ts';

/**
 * Settings that need a restart, because connections, listeners or published values depend on them. The root key is one
 * of them; it may be in a file, so its value is compared.
 */
export const START_SETTINGS: readonly Path[] = [
  ['data_dir'],
  ['assets'],
  ['templates', 'assets_manifest'],
  ['protocol_name'],
  ['http', 'public_base'],
  ['http', 'issuer'],
  ['http', 'listeners'],
  ['http', 'workers'],
  ['database'],
  ['homeserver', 'kind'],
  ['homeserver', 'homeserver'],
  ['telemetry'],
  ['limits', 'max_connections'],
  ['limits', 'max_connections_per_address'],
  ['limits', 'max_db_waiters'],
];

/** A configuration for comparison: its values, and the content of the files that it names. */
export interface Comparable {
  readonly completeTree: MappingNode;
  readonly config: Pick<Config, 'branding' | 'homeserver' | 'protocolName' | 'secrets' | 'templates'>;
}

/** Paths of the database password outside the URI. */
const PASSWORD: readonly Path[] = [
  ['database', 'password'],
  ['database', 'password_file'],
];

/**
 * Returns the startup tree with the values that a reload replaces: certificates and the database password, if they were
 * set at startup.
 */
export function withReplacedOf(started: MappingNode, next: MappingNode): MappingNode {
  const places = new Map(tlsPaths(next).map((path) => [listenerName(next, path), path]));
  let result: Node = started;
  for (const path of tlsPaths(started)) {
    const place = places.get(listenerName(started, path));
    if (place !== undefined) result = withValue(result, path, nodeAt(next, place), next.at) ?? result;
  }
  if (hasPassword(started) && hasPassword(next)) {
    for (const path of PASSWORD) result = withValue(result, path, nodeAt(next, path), next.at) ?? result;
  }
  return result.kind === 'mapping' ? result : started;
}

function hasPassword(root: MappingNode): boolean {
  return PASSWORD.some((path) => nodeAt(root, path) !== undefined);
}

/** @param path of the listener's certificate */
function listenerName(root: MappingNode, path: Path): string {
  const name = nodeAt(root, [...path.slice(0, -1), 'name']);
  return name?.kind === 'scalar' ? String(name.value) : String(path.at(-2));
}

/** Returns the keys of settings that need a restart and differ from startup. */
export function changedStartSettings(started: Comparable, next: Comparable): readonly string[] {
  const kept = withReplacedOf(started.completeTree, next.completeTree);
  const changed = START_SETTINGS.flatMap((path) =>
    differences(nodeAt(kept, path), nodeAt(next.completeTree, path), path),
  );
  if (started.config.homeserver.kind !== next.config.homeserver.kind) changed.push('homeserver.kind');
  if (started.config.protocolName !== next.config.protocolName) changed.push('protocol_name');
  const encryption = ({ config }: Comparable) => config.secrets.encryption?.reveal().toLowerCase();
  if (encryption(started) !== encryption(next)) changed.push('secrets.encryption');
  return [...new Set(changed)];
}

/** Returns the keys, never the values, of changed settings that a reload applies. */
export function changedSettings(before: Comparable, next: Comparable): readonly string[] {
  const changed = differences(before.completeTree, next.completeTree, []).filter((key) => !isStartSetting(key));
  if (textOf(before.config.templates) !== textOf(next.config.templates)) changed.push('templates');
  if (textOf(before.config.branding) !== textOf(next.config.branding) && !changed.some(isIn('branding')))
    changed.push('branding');
  if (keysText(before) !== keysText(next) && !changed.some(isIn('secrets'))) changed.push('secrets.keys');
  return changed;
}

const CERTIFICATE = /^http\.listeners\[\d+\]\.tls\./;

function isIn(section: string) {
  return (key: string): boolean => key.startsWith(`${section}.`);
}

/** Returns whether a change of a key needs a restart. */
export function isStartSetting(key: string): boolean {
  if (CERTIFICATE.test(key) || PASSWORD.some((path) => key === pathText(path))) return false;
  if (key.startsWith('secrets.encryption') && !key.startsWith('secrets.encryption_previous')) return true;
  return START_SETTINGS.some((path) => {
    const text = pathText(path);
    return key === text || key.startsWith(`${text}.`) || key.startsWith(`${text}[`);
  });
}

/** Returns the deepest keys that differ or exist in only one of the two. */
function differences(one: Node | undefined, other: Node | undefined, path: Path): string[] {
  if (one === undefined && other === undefined) return [];
  if (one?.kind === 'mapping' && other?.kind === 'mapping') {
    const keys = new Set([...one.entries.keys(), ...other.entries.keys()]);
    return [...keys].flatMap((key) => differences(nodeAt(one, [key]), nodeAt(other, [key]), [...path, key]));
  }
  if (one?.kind === 'list' && other?.kind === 'list' && one.items.length === other.items.length)
    return one.items.flatMap((item, index) => differences(item, other.items[index], [...path, index]));
  if (one?.kind === 'scalar' && other?.kind === 'scalar' && one.value === other.value) return [];
  // An added or removed section is reported by its keys.
  const only = one ?? other;
  if ((one === undefined || other === undefined) && only?.kind === 'mapping' && only.entries.size > 0)
    return [...only.entries].flatMap(([key, { value }]) => differences(value, undefined, [...path, key]));
  return [pathText(path)];
}

function keysText({ config }: Comparable): string {
  return textOf(config.secrets.keys.map(({ key, password, ...rest }) => [key.reveal(), password?.reveal(), rest]));
}

function textOf(value: unknown): string {
  return JSON.stringify(value);
}
