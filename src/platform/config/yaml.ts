import {
  type Alias,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  Parser,
  parseDocument,
} from 'yaml';
import type { Problem } from './problems.ts';
import { type Entry, mappingNode, type Node, type Origin, type Path, pathText } from './tree.ts';

const MAX_ALIASES = 100;
const MAX_DEPTH = 50;
const CORE_TAG = /^tag:yaml\.org,2002:(?:str|int|float|bool|null|map|seq)$/;

export interface YamlContent {
  /** Undefined if the text cannot be parsed. Its keys are then not checked. */
  readonly root: Node | undefined;
  readonly problems: readonly Problem[];
}

/**
 * Parses one YAML 1.2 document of the core schema, without other tags or duplicate keys. Permits at most 100 alias
 * expansions, since a small text could expand to a huge tree.
 * @param origin of the file; line and column are added
 */
export function parseYaml(text: string, origin: Origin): YamlContent {
  const lines = new LineCounter();
  const place = (offset: number): Origin => {
    const { line, col } = lines.linePos(offset);
    return { ...origin, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const refused = (problems: readonly Problem[]): YamlContent => ({ root: undefined, problems });
  if (isNestedTooDeeply(text)) return refused([{ key: undefined, message: TOO_DEEP, at: origin }]);
  const document = parseDocument(text, {
    version: '1.2',
    schema: 'core',
    merge: false,
    // The reader reports duplicates, with the name of the key.
    uniqueKeys: false,
    prettyErrors: false,
    // With 'silent', a second document would not be an error.
    logLevel: 'error',
    lineCounter: lines,
  });
  if (document.errors.length === 0) return new DocumentReader(document, place).read();
  return refused(
    document.errors.map((error) => ({ key: undefined, message: syntaxMessage(error), at: place(error.pos[0]) })),
  );
}

const TOO_DEEP = `nested more than ${MAX_DEPTH} levels deep`;

/** Checked before parsing, because the parser recurses and a stack overflow in it ends the process. */
function isNestedTooDeeply(text: string): boolean {
  for (const document of new Parser().parse(text)) {
    const waiting: [token: CST.Token, depth: number][] = [[document, 0]];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [token, depth] = next;
      if (depth > MAX_DEPTH) return true;
      if (token.type === 'document' && token.value !== undefined) waiting.push([token.value, depth]);
      for (const { key, value } of 'items' in token ? token.items : []) {
        if (key != null) waiting.push([key, depth + 1]);
        if (value !== undefined) waiting.push([value, depth + 1]);
      }
    }
  }
  return false;
}

/** Removes quoted pieces of the text, which could be part of a secret. */
function syntaxMessage(error: { readonly code: string; readonly message: string }): string {
  switch (error.code) {
    case 'TAB_AS_INDENT':
      return 'tabs are not allowed as indentation';
    case 'MULTIPLE_DOCS':
      return 'expected one document, found several';
    case 'BAD_DQ_ESCAPE':
      return 'not valid YAML: invalid escape sequence';
    default:
      return `not valid YAML: ${error.message.replace(/: ".*$/s, '')}`;
  }
}

class DocumentReader {
  readonly #document: Document.Parsed;
  readonly #place: (offset: number) => Origin;
  readonly #problems: Problem[] = [];
  #aliases = 0;
  /** A limit was reached, and the rest of the text is not read. */
  #isExhausted = false;

  constructor(document: Document.Parsed, place: (offset: number) => Origin) {
    this.#document = document;
    this.#place = place;
  }

  read(): YamlContent {
    const { contents } = this.#document;
    const isEmpty = contents === null || (isScalar(contents) && contents.value === null);
    const root = isEmpty ? mappingNode(this.#place(0)) : this.#node(contents, []);
    return { root: this.#isExhausted ? undefined : root, problems: this.#problems };
  }

  #node(node: unknown, path: Path): Node {
    const at = this.#place(offsetOf(node));
    if (isAlias(node)) return this.#expanded(node, path, at);
    if (hasForeignTag(node)) this.#report(path, 'tags are not allowed', at);
    if (isMap(node)) return mappingNode(at, this.#entries(node.items, path));
    if (isSeq(node)) {
      return { kind: 'list', at, items: node.items.map((item, index) => this.#node(item, [...path, index])) };
    }
    const value = isScalar(node) ? node.value : null;
    const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    return { kind: 'scalar', at, value: isPlain ? value : null };
  }

  #entries(pairs: readonly { readonly key: unknown; readonly value: unknown }[], path: Path): Map<string, Entry> {
    const entries = new Map<string, Entry>();
    for (const { key, value } of pairs) {
      const at = this.#place(offsetOf(key));
      if (!isScalar(key)) {
        this.#report(path, 'a key must be a plain string', at);
        continue;
      }
      const name = String(key.value);
      // Reserved for anchors (operations 1.1): read only through an alias.
      if (path.length === 0 && name.startsWith('x-')) continue;
      if (isUnquotedColor(value)) this.#report([...path, name], UNQUOTED, at);
      if (entries.has(name)) this.#report([...path, name], 'duplicate key', at);
      else entries.set(name, { at, value: this.#node(value, [...path, name]) });
    }
    return entries;
  }

  #expanded(alias: Alias, path: Path, at: Origin): Node {
    const nothing: Node = { kind: 'scalar', at, value: null };
    this.#aliases += 1;
    if (this.#aliases > MAX_ALIASES) this.#exhaust(`contains more than ${MAX_ALIASES} alias expansions`, at);
    // An alias may occur inside its own anchor.
    if (path.length > MAX_DEPTH) this.#exhaust(TOO_DEEP, at);
    if (this.#isExhausted) return nothing;
    const target = alias.resolve(this.#document);
    if (target !== undefined) return this.#node(target, path);
    this.#report(path, 'the alias does not refer to an earlier anchor', at);
    return nothing;
  }

  #exhaust(message: string, at: Origin): void {
    if (!this.#isExhausted) this.#report([], message, at);
    this.#isExhausted = true;
  }

  #report(path: Path, message: string, at: Origin): void {
    this.#problems.push({ key: path.length === 0 ? undefined : pathText(path), message, at });
  }
}

const UNQUOTED = 'has no value: "#" starts a comment; put colors in quotes';

/** Detects `key: #0a6a5a`, which YAML reads as a key without a value, so that its default would apply. */
function isUnquotedColor(value: unknown): boolean {
  if (!isScalar(value) || value.value !== null || value.source !== '') return false;
  return /^[0-9a-f]{3,8}\s*$/i.test(value.comment ?? '');
}

function offsetOf(node: unknown): number {
  const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined;
  const start: unknown = Array.isArray(range) ? range[0] : 0;
  return typeof start === 'number' ? start : 0;
}

function hasForeignTag(node: unknown): boolean {
  const tag = typeof node === 'object' && node !== null && 'tag' in node ? node.tag : undefined;
  return typeof tag === 'string' && !CORE_TAG.test(tag);
}
