/**
 * Translates a document of Matrix Authentication Service (MAS) to a document of Latchkey. Values keep their positions, so
 * problems that later checks find name lines of the MAS file. Messages never contain values of secrets.
 */
import { type MappingShape, mappingOf, shapeAt } from '#platform/config/shape.ts';
import {
  type Entry,
  type MappingNode,
  mappingNode,
  type Node,
  nodeAt,
  nodeOf,
  type Origin,
  type Path,
  pathText,
  withValue,
} from '#platform/config/tree.ts';

export interface MasNote {
  /** `change`: explained on conversion. `warning`: shown at start as well. `refusal`: a problem of the configuration. */
  readonly kind: 'change' | 'warning' | 'refusal';
  /** As in the MAS document, for example `http.trusted_proxies[3]`. */
  readonly key: string;
  readonly message: string;
  readonly at: Origin;
}

/** What the rules of a key know and may do. */
export interface KeyContext {
  /** Key with positions in lists. */
  readonly path: Path;
  readonly at: Origin;
  /** The whole MAS document. */
  readonly document: MappingNode;
  note(kind: MasNote['kind'], message: string): void;
  /** Sets a value elsewhere in the document of Latchkey, unless the MAS document sets it too. */
  set(path: Path, value: unknown): void;
}

/** Translates the value of a key. Undefined: Latchkey's document does not get it. */
export type Translate = (value: Node, context: KeyContext) => Node | undefined;

export interface KeyRule {
  /** Name in Latchkey's document, if it differs. */
  readonly name?: string;
  /** For a value without keys that are translated. */
  readonly translate?: Translate;
  /** For a mapping or list, after the keys in it are translated. */
  readonly finish?: Translate;
}

/** Rules by key, with `[]` for positions in lists. A key with an empty rule is the same in both. */
export type KeyRules = ReadonlyMap<string, KeyRule>;

export class Translation {
  readonly notes: MasNote[] = [];
  readonly #rules: KeyRules;
  readonly #document: MappingNode;
  readonly #shape: MappingShape;
  readonly #moved: { readonly path: Path; readonly value: Node }[] = [];

  /** @param shape of Latchkey's document */
  constructor(document: MappingNode, rules: KeyRules, shape: MappingShape) {
    this.#document = document;
    this.#shape = shape;
    this.#rules = rules;
  }

  /** Returns Latchkey's document. */
  translated(): MappingNode {
    const root = this.#translated(this.#document, '', []);
    let complete: Node | undefined = root;
    for (const { path, value } of this.#moved) {
      if (nodeAt(complete ?? this.#document, path) === undefined) complete = withValue(complete, path, value, value.at);
    }
    return complete?.kind === 'mapping' ? complete : mappingNode(this.#document.at);
  }

  #translated(node: Node, key: string, path: Path): Node | undefined {
    const rule = this.#rules.get(key);
    const context = this.#context(path, node.at);
    if (rule?.translate !== undefined) return rule.translate(node, context);
    const below = this.#withBelow(node, key, path);
    return rule?.finish === undefined ? below : rule.finish(below, context);
  }

  #withBelow(node: Node, key: string, path: Path): Node {
    if (node.kind === 'list') {
      const items = node.items.flatMap((item, index) => this.#translated(item, `${key}[]`, [...path, index]) ?? []);
      return { ...node, items };
    }
    if (node.kind === 'scalar' || !this.#hasKeysBelow(key)) return node;
    const entries = new Map<string, Entry>();
    for (const [name, entry] of node.entries) {
      const known = key === '' ? name : `${key}.${name}`;
      const place = [...path, name];
      const rule = this.#rules.get(known);
      if (rule === undefined) {
        if (isOwnKey(place, this.#shape)) entries.set(name, entry);
        else
          this.#note('warning', place, entry.at, 'ignored: neither Matrix Authentication Service nor Latchkey has it');
        continue;
      }
      // For MAS, a key that is null is absent.
      if (entry.value.kind === 'scalar' && entry.value.value === null) continue;
      const value = this.#translated(entry.value, known, place);
      if (value !== undefined) entries.set(rule.name ?? name, { at: entry.at, value });
    }
    return { ...node, entries };
  }

  #hasKeysBelow(key: string): boolean {
    if (key === '') return true;
    for (const known of this.#rules.keys()) if (known.startsWith(`${key}.`)) return true;
    return false;
  }

  #context(path: Path, at: Origin): KeyContext {
    return {
      path,
      at,
      document: this.#document,
      note: (kind, message) => this.#note(kind, path, at, message),
      set: (to, value) => this.#moved.push({ path: to, value: nodeOf(value, at) }),
    };
  }

  #note(kind: MasNote['kind'], path: Path, at: Origin, message: string): void {
    this.notes.push({ kind, key: pathText(path), message, at });
  }
}

/** Returns true for a key of Latchkey's document, given its path in a MAS document. */
export function isOwnKey(path: Path, shape: MappingShape): boolean {
  const own = path[0] === 'matrix' ? ['homeserver', ...path.slice(1)] : path;
  const parent = shapeAt(shape, own.slice(0, -1));
  return mappingOf(parent)?.keys.has(String(own.at(-1))) === true;
}
