import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from '../steps/program.js';
import { extractTar } from './archive-files.js';
import { digestOfFile } from './digest.js';

const RUNTIME = JSON.parse(readFileSync(new URL('runtime.json', import.meta.url), 'utf8'));

/** The architectures of releases, by the names of Node.js, containers and Debian. */
export const ARCHITECTURES = [
  { name: 'x64', container: 'amd64', debian: 'amd64' },
  { name: 'arm64', container: 'arm64', debian: 'arm64' },
];

/** Returns the npm package with the Node.js of an architecture, and its integrity. */
export function runtimeOf(architecture) {
  return { ...RUNTIME[architecture], version: RUNTIME.node };
}

/** Downloads the Node.js of an architecture from npm, verifies its integrity, and writes it to `to`. */
export function fetchNode(architecture, place, to) {
  const { package: name, version, integrity } = runtimeOf(architecture);
  mkdirSync(place, { recursive: true });
  const [{ filename }] = JSON.parse(npm(['pack', `${name}@${version}`, '--json', '--pack-destination', place]));
  const archive = join(place, filename);
  const found = `sha512-${digestOfFile(archive, 'sha512', 'base64')}`;
  if (found !== integrity) throw new Error(`${name}@${version} has integrity ${found}, runtime.json says ${integrity}`);
  mkdirSync(to, { recursive: true });
  extractTar(archive, to, ['--strip-components=1', 'package/bin/node', 'package/LICENSE']);
}
