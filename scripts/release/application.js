import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isExternal } from '../steps/build.js';
import { root } from '../steps/places.js';
import { npm } from '../steps/program.js';
import { extractTar } from './archive-files.js';

/**
 * Unpacks the npm package into `to` and installs what it depends on for an architecture, with the versions and
 * checksums of this repository's lockfile.
 */
export function installApplication(archive, architecture, to) {
  mkdirSync(to, { recursive: true });
  extractTar(archive, to, ['--strip-components=1']);
  const manifest = JSON.parse(readFileSync(join(to, 'package.json'), 'utf8'));
  const lockfile = join(to, 'package-lock.json');
  writeFileSync(lockfile, JSON.stringify(lockOf(manifest)));
  npm(
    [
      ...['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--no-bin-links'],
      ...['--os=linux', `--cpu=${architecture}`, '--libc=glibc'],
    ],
    { cwd: to },
  );
  rmSync(lockfile);
  rmSync(join(to, 'node_modules/.package-lock.json'));
}

/** Returns the lockfile of the published manifest: the entries of ours that it needs. */
function lockOf(manifest) {
  const { packages, lockfileVersion } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const needed = {};
  const add = (name) => {
    const path = `node_modules/${name}`;
    const entry = packages[path];
    if (entry === undefined || path in needed) return;
    needed[path] = entry;
    for (const kind of ['dependencies', 'optionalDependencies']) Object.keys(entry[kind] ?? {}).forEach(add);
  };
  Object.keys(packages)
    .map((path) => path.slice('node_modules/'.length))
    .filter(isExternal)
    .forEach(add);
  const { name, version, license, dependencies, optionalDependencies, engines } = manifest;
  const own = { name, version, license, dependencies, optionalDependencies, engines };
  return { name, version, lockfileVersion, requires: true, packages: { '': own, ...needed } };
}
