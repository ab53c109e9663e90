/** The variables of Matrix Authentication Service: `MAS_DATABASE_URI` sets `database.uri`. */
import type { Environment } from '#platform/config/dot-env.ts';
import { type MappingNode, mappingNode, type Origin } from '#platform/config/tree.ts';
import { LOG_LEVELS, type LogLevel } from '#platform/log/log-options.ts';
import { mergedAsMas, nested } from './merge.ts';

const PREFIX = /^mas_(?=.)/i;
/** Names the files, and is read by `configurationFiles`. */
const FILES = 'config';
/** Set by Kubernetes and by links of containers for a service named `mas`. */
const SERVICE_LINK = /^mas_(?:service_(?:host|port)|port|name|env)(?:_|$)/i;

/**
 * Returns the settings in variables. Each underscore separates two keys, so a key with an underscore cannot be set.
 * @param origin of the variables, without their names
 */
export function masVariables(environment: Environment, origin: Omit<Origin, 'source'>): MappingNode {
  const names = Object.keys(environment).filter((name) => PREFIX.test(name) && !SERVICE_LINK.test(name));
  let root = mappingNode({ ...origin, source: 'environment' });
  for (const name of names.sort()) {
    const steps = name.replace(PREFIX, '').toLowerCase().split('_');
    if (steps[0] === FILES) continue;
    const value = nested(steps, parseValue(environment[name] ?? ''), { ...origin, source: name });
    if (value.kind === 'mapping') root = mergedAsMas(root, value);
  }
  return root;
}

/** Parses `true`, a number, `[a, b]`, `{key=value}` or `"quoted"`. Any other value is text. */
export function parseValue(text: string): unknown {
  const reader = new ValueReader(text.trim());
  const value = reader.value('');
  return reader.isAtEnd && value !== undefined ? value : text;
}

class ValueReader {
  readonly #text: string;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#position === this.#text.length;
  }

  /** @param ends characters that end a bare value; returns undefined for text that cannot be parsed */
  value(ends: string): unknown {
    this.#skipSpaces();
    const first = this.#text.charAt(this.#position);
    if (first === '[') return this.#list();
    if (first === '{') return this.#mapping();
    if (first === '"') return this.#quoted();
    return bareValue(this.#until(ends).trim());
  }

  #list(): unknown[] | undefined {
    const items: unknown[] = [];
    this.#position += 1;
    for (;;) {
      if (this.#takes(']')) return items;
      const item = this.value(',]');
      if (item === undefined || this.isAtEnd) return undefined;
      items.push(item);
      if (!this.#takes(',') && this.#text.charAt(this.#position) !== ']') return undefined;
    }
  }

  #mapping(): Record<string, unknown> | undefined {
    const members: [string, unknown][] = [];
    this.#position += 1;
    for (;;) {
      if (this.#takes('}')) return Object.fromEntries(members);
      const key = this.#text.charAt(this.#position) === '"' ? this.#quoted() : this.#until('=,}').trim();
      if (key === undefined || key === '' || !this.#takes('=')) return undefined;
      const value = this.value(',}');
      if (value === undefined || this.isAtEnd) return undefined;
      members.push([key, value]);
      if (!this.#takes(',') && this.#text.charAt(this.#position) !== '}') return undefined;
    }
  }

  #quoted(): string | undefined {
    const [whole, inner = ''] = /^"((?:[^"\\]|\\.)*)"/s.exec(this.#text.slice(this.#position)) ?? [];
    if (whole === undefined) return undefined;
    this.#position += whole.length;
    this.#skipSpaces();
    return inner.replace(/\\(.)/gs, (_, character: string) => ESCAPES.get(character) ?? character);
  }

  #until(ends: string): string {
    const start = this.#position;
    while (!this.isAtEnd && !ends.includes(this.#text.charAt(this.#position))) this.#position += 1;
    return this.#text.slice(start, this.#position);
  }

  #takes(character: string): boolean {
    this.#skipSpaces();
    if (this.#text.charAt(this.#position) !== character) return false;
    this.#position += 1;
    this.#skipSpaces();
    return true;
  }

  #skipSpaces(): void {
    while (/\s/.test(this.#text.charAt(this.#position))) this.#position += 1;
  }
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

function bareValue(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  if (!/^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) return text;
  const number = Number(text);
  return Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number)) ? number : text;
}

export interface RustLog {
  /** Undefined: the filter sets no level for everything. */
  readonly level: LogLevel | undefined;
  /** Parts of the filter that name modules of another program. */
  readonly ignored: readonly string[];
}

/** Reads a filter of `RUST_LOG`: `level` or `target=level`, separated by commas. */
export function parseRustLog(filter: string): RustLog {
  let level: LogLevel | undefined;
  const ignored: string[] = [];
  for (const part of filter.split(',').map((piece) => piece.trim())) {
    if (part === '') continue;
    const word = part.toLowerCase();
    const known = word === 'off' ? 'error' : LOG_LEVELS.find((candidate) => candidate === word);
    if (known === undefined) ignored.push(part);
    else level = known;
  }
  return { level, ignored };
}
