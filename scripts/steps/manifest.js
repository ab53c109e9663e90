import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isExternal } from './build.js';
import { packedFiles } from './contents.js';
import { root, workshop } from './places.js';

const manifestFile = join(root, 'package.json');
const ours = join(workshop, 'package.before-pack.json');
const PUBLISHED = ['name', 'version', 'description', 'license', 'type', 'engines', 'bin', 'files'];

/**
 * Replaces `package.json` by the manifest of the published package. It installs only what the bundles do not contain,
 * and has no install scripts.
 */
export function publishManifest() {
  const manifest = JSON.parse(readFileSync(manifestFile, 'utf8'));
  const published = Object.fromEntries(PUBLISHED.map((key) => [key, manifest[key]]));
  published.files = published.files.flatMap((name) => (name === 'dist' ? packedFiles() : name));
  for (const kind of ['dependencies', 'optionalDependencies']) {
    published[kind] = Object.fromEntries(Object.entries(manifest[kind]).filter(([name]) => isExternal(name)));
  }
  mkdirSync(workshop, { recursive: true });
  copyFileSync(manifestFile, ours);
  const prepared = join(workshop, `package.${process.pid}.json`);
  writeFileSync(prepared, `${JSON.stringify(published, undefined, 2)}\n`);
  renameSync(prepared, manifestFile);
}

/** Also called at the start of the next pack, in case this one was killed. */
export function restoreManifest() {
  if (existsSync(ours)) renameSync(ours, manifestFile);
}
