import { mappingOf, type Shape } from './shape.ts';
import type { Entry, MappingNode, Node, Path } from './tree.ts';

/** Changes a node before the nodes below it are visited; the shape is what is defined at its place. */
export type Visit = (node: Node, shape: Shape, path: Path) => Node;

/** The tree after each node that the schema knows was visited from the root down; unknown keys stay as they are. */
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

/** The same for the whole configuration, which stays a mapping. */
export function transformRoot(root: MappingNode, shape: Shape, visit: Visit): MappingNode {
  const result = transform(root, shape, visit);
  return result.kind === 'mapping' ? result : root;
}
