import type { Problem } from './problems.ts';
import { canonicalKey, mappingOf, type Shape } from './shape.ts';
import { transform } from './transform.ts';
import { type Entry, type Node, pathText } from './tree.ts';

export interface Spelling {
  readonly root: Node;
  readonly problems: readonly Problem[];
  /** Dotted paths that were written with an alias, as they were written. */
  readonly aliases: ReadonlySet<string>;
}

/** Gives every key of one source its own name in place of an alias. */
export function withOwnNames(root: Node, shape: Shape): Spelling {
  const problems: Problem[] = [];
  const aliases = new Set<string>();
  const renamed = transform(root, shape, (node, nodeShape, path) => {
    const mapping = mappingOf(nodeShape);
    if (node.kind !== 'mapping' || mapping === undefined) return node;
    const entries = new Map<string, Entry>();
    for (const [name, entry] of node.entries) {
      const key = canonicalKey(mapping, name) ?? name;
      const written = pathText([...path, name]);
      if (key !== name) aliases.add(written);
      if (key !== name && node.entries.has(key)) {
        problems.push({ key: written, message: `the same as "${pathText([...path, key])}"; use one`, at: entry.at });
      } else {
        entries.set(key, entry);
      }
    }
    return { ...node, entries };
  });
  return { root: renamed, problems, aliases };
}
