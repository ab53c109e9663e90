import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '#platform/base/package-root.ts';
import { systemReason } from '#platform/base/system-errors.ts';
import type { Problem } from '#platform/config/problems.ts';
import { type MappingNode, nodeAt, type Path, pathText } from '#platform/config/tree.ts';
import { parseAssetManifest } from './asset-manifest.ts';

const PATH = ['assets', 'path'];
const MANIFEST = ['templates', 'assets_manifest'];

/** Directory of the assets that ship with the package, used unless `assets.path` is set. */
export const BUNDLED_ASSETS = join(packageRoot, 'dist/assets');

/**
 * Checks that `assets.path` is the output directory of a build, or that the configured manifest is valid and its files
 * exist.
 */
export function assetDirectoryProblems(root: MappingNode): Problem[] {
  const directory = pathAt(root, PATH);
  const manifest = pathAt(root, MANIFEST);
  if (manifest !== undefined) return manifestProblems(root, manifest, directory ?? BUNDLED_ASSETS);
  if (directory === undefined) return [];
  const file = join(directory, 'manifest.json');
  const text = readOr(file);
  if (typeof text === 'string') return [];
  return [problem(root, PATH, `cannot read ${file}: ${text.reason}; the directory must be the output of a build`)];
}

function manifestProblems(root: MappingNode, file: string, directory: string): Problem[] {
  const text = readOr(file);
  if (typeof text !== 'string') return [problem(root, MANIFEST, `cannot read ${file}: ${text.reason}`)];
  const names = parseAssetManifest(text);
  if (typeof names === 'string') return [problem(root, MANIFEST, `${file} ${names}`)];
  return Object.values(names)
    .filter((name) => !existsSync(join(directory, name)))
    .map((name) => problem(root, MANIFEST, `${file} refers to ${name}, which is not in ${directory}`));
}

/** Returns undefined for anything but a path: the schema check reports it. */
function pathAt(root: MappingNode, key: Path): string | undefined {
  const node = nodeAt(root, key);
  return node?.kind === 'scalar' && typeof node.value === 'string' && node.value !== '' ? node.value : undefined;
}

function readOr(file: string): string | { readonly reason: string } {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    return { reason: systemReason(error) };
  }
}

function problem(root: MappingNode, key: Path, message: string): Problem {
  return { key: pathText(key), message, at: nodeAt(root, key)?.at };
}
