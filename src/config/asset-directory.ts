import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemReason } from '#platform/base/system-errors.ts';
import type { Problem } from '#platform/config/problems.ts';
import { type MappingNode, nodeAt, pathText } from '#platform/config/tree.ts';

const KEY = ['assets', 'path'];

/** Whether the directory that stands in for the bundled assets is one that a build made. */
export function assetDirectoryProblems(root: MappingNode): Problem[] {
  const node = nodeAt(root, KEY);
  // Anything but a path is left for the check of the schema.
  if (node?.kind !== 'scalar' || typeof node.value !== 'string' || node.value === '') return [];
  const file = join(node.value, 'manifest.json');
  try {
    readFileSync(file);
    return [];
  } catch (error) {
    const message = `cannot read ${file}: ${systemReason(error)}; the directory has to be one that a build made`;
    return [{ key: pathText(KEY), message, at: node.at }];
  }
}
