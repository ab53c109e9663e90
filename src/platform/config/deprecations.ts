import type { Shape } from './shape.ts';
import { transform } from './transform.ts';
import { type Node, pathText } from './tree.ts';

/** One sentence for each key in use that is to go away. */
export function deprecationWarnings(root: Node, shape: Shape): string[] {
  const warnings: string[] = [];
  transform(root, shape, (node, { hints }, path) => {
    if (hints.deprecated !== undefined) warnings.push(`${pathText(path)} is deprecated: ${hints.deprecated}`);
    return node;
  });
  return warnings;
}
