import { type Entry, type MappingNode, type Node, nodeOf, type Origin } from '#platform/config/tree.ts';

/** Merges two mappings as Matrix Authentication Service does: lists are concatenated, with the lower items first. */
export function mergedAsMas(lower: MappingNode, upper: MappingNode): MappingNode {
  const entries = new Map<string, Entry>(lower.entries);
  for (const [key, entry] of upper.entries) {
    const below = entries.get(key);
    entries.set(key, below === undefined ? entry : { at: entry.at, value: mergedValue(below.value, entry.value) });
  }
  return { kind: 'mapping', at: upper.at, entries };
}

function mergedValue(lower: Node, upper: Node): Node {
  if (lower.kind === 'mapping' && upper.kind === 'mapping') return mergedAsMas(lower, upper);
  if (lower.kind === 'list' && upper.kind === 'list') return { ...upper, items: [...lower.items, ...upper.items] };
  return upper;
}

/** Returns the node with another base directory of its relative paths. */
export function relocated<Given extends Node>(node: Given, directory: string): Given {
  const at = { ...node.at, directory };
  if (node.kind === 'list') return { ...node, at, items: node.items.map((item) => relocated(item, directory)) };
  if (node.kind === 'scalar') return { ...node, at };
  const entries = [...node.entries].map(
    ([key, entry]) => [key, { at: { ...entry.at, directory }, value: relocated(entry.value, directory) }] as const,
  );
  return { ...node, at, entries: new Map(entries) };
}

/** Returns a mapping with one value below the steps of a path. */
export function nested(steps: readonly string[], value: unknown, at: Origin): Node {
  return nodeOf(
    steps.reduceRight<unknown>((below, step) => ({ [step]: below }), value),
    at,
  );
}
