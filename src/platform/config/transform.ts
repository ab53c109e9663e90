/** Schema-driven transformations of a tree, each a single pass over the nodes that the schema defines. */
import { resolve } from 'node:path';
import type { Problem } from './problems.ts';
import { canonicalKey, mappingOf, type Shape } from './shape.ts';
import { type Entry, type MappingNode, mappingNode, type Node, type Path, pathText } from './tree.ts';

/** Changes a node before its children are visited. The shape is the one defined at its path. */
export type Visit = (node: Node, shape: Shape, path: Path) => Node;

/**
 * Visits every node that the schema defines, from the root down, and returns the new tree. Unknown keys stay unchanged.
 */
export function transform(node: Node, shape: Shape, visit: Visit, path: Path = []): Node {
  const visited = visit(node, shape, path);
  if (visited.kind === 'list' && shape.kind === 'list') {
    const items = visited.items.map((item, index) => transform(item, shape.element, visit, [...path, index]));
    return { ...visited, items };
  }
  const keys = mappingOf(shape)?.keys;
  if (visited.kind !== 'mapping' || keys === undefined) return visited;
  const entries = new Map<string, Entry>();
  for (const [name, entry] of visited.entries) {
    const below = keys.get(name);
    const value = below === undefined ? entry.value : transform(entry.value, below, visit, [...path, name]);
    entries.set(name, { at: entry.at, value });
  }
  return { ...visited, entries };
}

/** Does the same for the whole configuration, whose root stays a mapping. */
export function transformRoot(root: MappingNode, shape: Shape, visit: Visit): MappingNode {
  const result = transform(root, shape, visit);
  return result.kind === 'mapping' ? result : root;
}

export interface Spelling {
  readonly root: Node;
  readonly problems: readonly Problem[];
  /** Dotted paths written with an alias, in their original spelling. */
  readonly aliases: ReadonlySet<string>;
}

/** Replaces the aliases in one source with the canonical keys. */
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
        problems.push({
          key: written,
          message: `another name of "${pathText([...path, key])}"; set only one of the two`,
          at: entry.at,
        });
      } else {
        entries.set(key, entry);
      }
    }
    return { ...node, entries };
  });
  return { root: renamed, problems, aliases };
}

/** Removes keys set to `null`, which resets the values of lower sources, unless `null` is a valid value of the key. */
export function withoutNulls(root: MappingNode, shape: Shape): MappingNode {
  return transformRoot(root, shape, (node, nodeShape) => {
    const keys = mappingOf(nodeShape)?.keys;
    if (node.kind !== 'mapping' || keys === undefined) return node;
    const kept = [...node.entries].filter(([name, { value }]) => {
      const isNull = value.kind === 'scalar' && value.value === null;
      return !isNull || keys.get(name)?.acceptsNull !== false;
    });
    return mappingNode(node.at, kept);
  });
}

/** Resolves relative paths against the directory of the source that contains them. */
export function withAbsolutePaths(root: MappingNode, shape: Shape): MappingNode {
  return transformRoot(root, shape, (node, { hints }) => {
    const isPath = hints.path !== undefined && node.kind === 'scalar' && typeof node.value === 'string';
    if (!isPath || node.value === '' || hints.path.except.includes(node.value)) return node;
    return { ...node, value: resolve(node.at.directory, node.value) };
  });
}

/** Returns one warning for each deprecated key in use. */
export function deprecationWarnings(root: Node, shape: Shape): string[] {
  const warnings: string[] = [];
  transform(root, shape, (node, { hints }, path) => {
    if (hints.deprecated !== undefined) warnings.push(`${pathText(path)} is deprecated: ${hints.deprecated}`);
    return node;
  });
  return warnings;
}
