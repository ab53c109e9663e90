import { resolve } from 'node:path';
import { mappingOf, type Shape } from './shape.ts';
import { transformRoot } from './transform.ts';
import { type MappingNode, mappingNode } from './tree.ts';

/** `null` takes back what a lower source said: the key is dropped, unless `null` is one of its values. */
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

/** Relative paths start from the directory of the source that names them. */
export function withAbsolutePaths(root: MappingNode, shape: Shape): MappingNode {
  return transformRoot(root, shape, (node, { hints }) => {
    const isPath = hints.path !== undefined && node.kind === 'scalar' && typeof node.value === 'string';
    if (!isPath || node.value === '' || hints.path.except.includes(node.value)) return node;
    return { ...node, value: resolve(node.at.directory, node.value) };
  });
}
