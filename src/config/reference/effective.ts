/** The configuration in force: each setting with its value, its source and its documentation. Secrets are masked. */
import { isObject } from '#platform/base/objects.ts';
import { isDefaultValue, mappingOf, type Shape } from '#platform/config/shape.ts';
import { type MappingNode, type Node, nodeAt, plain } from '#platform/config/tree.ts';
import { configShape } from '../config.ts';
import type { LoadedConfig } from '../load.ts';
import { isStartSetting } from '../start-settings.ts';
import { dumpedSettings, REDACTED } from './dump.ts';
import { type KeyEntry, keySections, MANUAL_PAGE } from './manual.ts';

export type SettingSourceKind = 'default' | 'file' | 'environment' | 'flag' | 'generated';

export interface SettingSource {
  /** `generated`: a secret of the data directory. */
  readonly kind: SettingSourceKind;
  /** Path of the file as the operator named it, variable or flag. */
  readonly name: string | undefined;
  /** Line in the file. */
  readonly line: number | undefined;
}

export interface EffectiveSetting {
  /** `http.listeners[0].name`; `K_file` if a file contains the value of the secret `K`. */
  readonly key: string;
  /** Name in the manual: `http.listeners[].name`. */
  readonly name: string;
  /** In the notation of a configuration file. Undefined if it is not set and has no default. */
  readonly value: unknown;
  readonly source: SettingSource;
  /** The value is not the default. */
  readonly differs: boolean;
  /** The sources contain another value, which a restart applies. */
  readonly needsRestart: boolean;
}

/** What the manual says about a setting. */
export interface DescribedKey extends Pick<KeyEntry, 'name' | 'type' | 'defaultText' | 'meaning'> {
  readonly isSecret: boolean;
  readonly appliesAfter: 'reload' | 'restart';
}

export interface DescribedSection {
  readonly name: string;
  readonly description: string | undefined;
  /** Place in the documentation. */
  readonly documentation: string;
  readonly keys: readonly DescribedKey[];
}

/** What this process read last, at the start or by a reload. */
export interface ConfigurationInForce {
  readonly loaded: Loaded;
  /** Keys whose values in the sources need a restart. */
  readonly restart: readonly string[];
  /** Milliseconds since the epoch. */
  readonly readAt: number;
}

type Loaded = Pick<LoadedConfig, 'config' | 'environment' | 'files' | 'tree'>;

export function effectiveSettings({
  loaded,
  restart,
}: Pick<ConfigurationInForce, 'loaded' | 'restart'>): readonly EffectiveSetting[] {
  const values = dumpedSettings(loaded, { defaults: true, showSecrets: false });
  const found = [...settingsBelow(configShape(), loaded.tree, values, { key: '', name: '' })];
  return found.map(({ shape, node, ...place }) => ({
    ...withSource(place, shape, node, loaded),
    needsRestart: restart.some((key) => isAtOrBelow(key, place.key)),
  }));
}

let described: readonly DescribedSection[] | undefined;

/** Returns what the manual says about all settings, computed once. */
export function describedSections(): readonly DescribedSection[] {
  described ??= keySections().map(({ name: section, anchor, description, entries }) => ({
    name: section,
    description,
    documentation: `${MANUAL_PAGE}#${anchor}`,
    keys: entries.map(({ shape, ...entry }) => ({
      ...entry,
      isSecret: isSecret(shape),
      appliesAfter: isStartSetting(entry.name.replaceAll('[]', '[0]')) ? 'restart' : 'reload',
    })),
  }));
  return described;
}

function isSecret(shape: Shape): boolean {
  return shape.kind === 'list' ? isSecret(shape.element) : shape.hints.secret === true;
}

interface Place {
  readonly key: string;
  readonly name: string;
}

interface Found extends Place {
  readonly shape: Shape;
  readonly node: Node | undefined;
  readonly value: unknown;
}

/** @param value of the node, with defaults and without secrets */
function* settingsBelow(shape: Shape, node: Node | undefined, value: unknown, place: Place): Generator<Found> {
  if (shape.kind === 'mapping') {
    for (const [key, below] of shape.keys) {
      const { fileOf } = below.hints;
      const isUnused = fileOf === undefined ? isInFile(shape, node, key) : !isInFile(shape, node, fileOf);
      if (isUnused) continue;
      const path = place.key === '' ? key : `${place.key}.${key}`;
      const name = [place.name, fileOf ?? key].filter((part) => part !== '').join('.');
      yield* settingsBelow(below, node && nodeAt(node, [key]), memberOf(value, key), { key: path, name });
    }
  } else if (shape.kind === 'list' && isListOfMappings(shape, value)) {
    for (const [index, item] of value.entries()) {
      const path = { key: `${place.key}[${index}]`, name: `${place.name}[]` };
      const element = node && nodeAt(node, [index]);
      // Of the many keys that an element may have, those with a value.
      for (const found of settingsBelow(shape.element, element, item, path)) {
        if (found.value !== undefined) yield found;
      }
    }
  } else {
    yield { ...place, shape, node, value };
  }
}

function isListOfMappings(shape: Shape, value: unknown): value is readonly unknown[] {
  return shape.kind === 'list' && shape.element.kind === 'mapping' && Array.isArray(value) && value.length > 0;
}

function memberOf(value: unknown, key: string): unknown {
  return isObject(value) ? value[key] : undefined;
}

/** Returns whether the value of a secret comes from the file that its twin names: the higher source wins. */
function isInFile(shape: Shape, node: Node | undefined, key: string): boolean {
  const twin = [...(mappingOf(shape)?.keys ?? [])].find(([, { hints }]) => hints.fileOf === key)?.[0];
  if (node?.kind !== 'mapping' || twin === undefined) return false;
  const [file, direct] = [node.entries.get(twin), node.entries.get(key)];
  return file !== undefined && (direct === undefined || direct.at.rank < file.at.rank);
}

const DEFAULT: SettingSource = { kind: 'default', name: undefined, line: undefined };

function withSource(found: Place & { readonly value: unknown }, shape: Shape, node: Node | undefined, loaded: Loaded) {
  if (node !== undefined) {
    const source = sourceOf(node, loaded);
    return { ...found, source, differs: source.kind !== 'default' && !isDefaultValue(shape, plain(node)) };
  }
  const variable = variableOf(found.key, shape, loaded);
  if (variable === undefined) return { ...found, source: DEFAULT, differs: false };
  const text = shape.hints.secret === true ? REDACTED : loaded.environment[variable];
  const source = { kind: 'environment' as const, name: variable, line: undefined };
  return { ...found, value: found.value ?? text, source, differs: true };
}

function sourceOf({ at }: Node, { files }: Pick<Loaded, 'files'>): SettingSource {
  if (at.rank === 0) {
    const isGenerated = at.source === 'data directory';
    return isGenerated ? { kind: 'generated', name: at.source, line: undefined } : DEFAULT;
  }
  const isFile = files.includes(at.source);
  const kind = isFile ? 'file' : at.source.startsWith('--') ? 'flag' : 'environment';
  return { kind, name: at.source, line: at.line };
}

/** Returns the environment variable that replaces the default of a setting which no source sets (operations 1.4). */
function variableOf(key: string, { hints }: Shape, { config, environment, tree }: Loaded): string | undefined {
  if (key.startsWith('database.') && !usesConnectionVariables(config, tree)) return undefined;
  const names = hints.defaultText?.match(/\b(?:[A-Z][A-Z0-9]*_[A-Z0-9_]+|PG[A-Z]+)\b/g) ?? [];
  return names.find((name) => (environment[name] ?? '') !== '');
}

/** The variables of PostgreSQL complete a connection that is set by its parts. A URI may contain them. */
function usesConnectionVariables({ database }: Loaded['config'], tree: MappingNode): boolean {
  const hasUri = ['uri', 'uri_file'].some((key) => nodeAt(tree, ['database', key]) !== undefined);
  return database.server.kind === 'postgres' && !hasUri;
}

function isAtOrBelow(key: string, setting: string): boolean {
  return key === setting || key.startsWith(`${setting}.`) || key.startsWith(`${setting}[`);
}
