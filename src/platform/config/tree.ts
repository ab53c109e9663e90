/** The configuration before validation: values with their origins. Nodes are immutable. */
export type Node = MappingNode | ListNode | ScalarNode;

export interface MappingNode {
  readonly kind: 'mapping';
  readonly at: Origin;
  readonly entries: ReadonlyMap<string, Entry>;
}

export interface Entry {
  /** Position of the key. */
  readonly at: Origin;
  readonly value: Node;
}

export interface ListNode {
  readonly kind: 'list';
  readonly at: Origin;
  readonly items: readonly Node[];
}

export interface ScalarNode {
  readonly kind: 'scalar';
  readonly at: Origin;
  readonly value: string | number | boolean | null;
}

/** Where a value comes from. Sources with a higher rank take precedence. */
export interface Origin {
  readonly rank: number;
  /** File as the operator named it, variable or flag. */
  readonly source: string;
  /** Line in the file, from 1. */
  readonly line?: number;
  readonly column?: number;
  /** Base directory of relative paths. */
  readonly directory: string;
}

export type Path = readonly (string | number)[];

export function mappingNode(at: Origin, entries: Iterable<readonly [string, Entry]> = []): MappingNode {
  return { kind: 'mapping', at, entries: new Map(entries) };
}

/** Merges two trees: mappings are merged, all other values of the upper node replace those of the lower one. */
export function merge(lower: Node, upper: Node): Node {
  if (lower.kind !== 'mapping' || upper.kind !== 'mapping') return upper;
  const entries = new Map(lower.entries);
  for (const [key, entry] of upper.entries) {
    const below = entries.get(key);
    entries.set(key, below === undefined ? entry : { at: entry.at, value: merge(below.value, entry.value) });
  }
  return { kind: 'mapping', at: upper.at, entries };
}

/** Returns the node at a path, or undefined if there is none. */
export function nodeAt(root: Node, path: Path): Node | undefined {
  let node: Node | undefined = root;
  for (const step of path) {
    if (node?.kind === 'mapping') node = node.entries.get(String(step))?.value;
    else node = node?.kind === 'list' && typeof step === 'number' ? node.items[step] : undefined;
  }
  return node;
}

/** Returns the origin of the value at a path. If it is missing, returns the origin of the nearest enclosing node. */
export function originOf(root: Node, path: Path): Origin {
  let node: Node = root;
  for (const step of path) {
    const next: Node | undefined = nodeAt(node, [step]);
    if (next === undefined) break;
    node = next;
  }
  return node.at;
}

/** Returns a tree with the value at a path replaced or removed. Missing mappings are created, lists grow by one. */
export function withValue(root: Node | undefined, path: Path, value: Node | undefined, at: Origin): Node | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (typeof step === 'number') {
    const items = root?.kind === 'list' ? [...root.items] : [];
    const item = withValue(items[step], rest, value, at);
    items.splice(step, 1, ...(item === undefined ? [] : [item]));
    return { kind: 'list', at: root?.at ?? at, items };
  }
  const entries = new Map(root?.kind === 'mapping' ? root.entries : []);
  const below = withValue(entries.get(step)?.value, rest, value, at);
  if (below === undefined) entries.delete(step);
  else entries.set(step, { at, value: below });
  return { kind: 'mapping', at: root?.at ?? at, entries };
}

/** Returns the values without their origins. */
export function plain(node: Node): unknown {
  switch (node.kind) {
    case 'scalar':
      return node.value;
    case 'list':
      return node.items.map(plain);
    case 'mapping':
      return Object.fromEntries([...node.entries].map(([key, { value }]) => [key, plain(value)]));
  }
}

/** Builds a tree from a single source, for example JSON in a variable. */
export function nodeOf(value: unknown, at: Origin): Node {
  if (Array.isArray(value)) return { kind: 'list', at, items: value.map((item) => nodeOf(item, at)) };
  if (typeof value === 'object' && value !== null) {
    return mappingNode(
      at,
      Object.entries(value).map(([key, item]) => [key, { at, value: nodeOf(item, at) }] as const),
    );
  }
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    return { kind: 'scalar', at, value };
  }
  return { kind: 'scalar', at, value: null };
}

/** `http.listeners[0].binds[1].port` */
export function pathText(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
}
