import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { filesOfBuild, isExternal } from './build.js';
import { dist, root } from './places.js';
import { npm } from './program.js';

const LEGAL = /^(?:licen[cs]e|notice|copying)(?:[.-].*)?$/i;
/** Builds the bundles but is not part of them. */
const BUNDLER = /^@?esbuild(?:\/|$)/;

const NOTICES = 'third-party-notices.txt';
const SBOM = 'sbom.cdx.json';

/**
 * Returns the files of `dist/` that are published: only the last build, so that the same sources give the same package.
 */
export function packedFiles() {
  return [...filesOfBuild(), NOTICES, SBOM].map((file) => `dist/${file}`);
}

/** Writes the licenses of all bundled packages, as those require, to `dist/third-party-notices.txt`. */
export function writeNotices() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const notices = Object.entries(packages)
    .filter(([path, entry]) => path !== '' && entry.dev !== true && entry.optional !== true)
    .map(([path, { version }]) => ({ folder: join(root, path), name: path.replace(/^.*node_modules\//, ''), version }))
    .filter(({ name }) => !isExternal(name) && !BUNDLER.test(name))
    .map(({ folder, name, version }) => `${'='.repeat(80)}\n${name} ${version}\n\n${legalTexts(folder)}`);
  writeFileSync(join(dist, NOTICES), notices.join('\n'));
}

function legalTexts(folder) {
  const files = readdirSync(folder).filter((name) => LEGAL.test(name));
  if (files.length > 0) return files.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
  const { license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const owner = typeof author === 'object' ? author.name : author;
  return `Licence: ${license}${owner === undefined ? '' : `, by ${owner}`}\n`;
}

/**
 * Writes the bill of materials (CycloneDX) to `dist/sbom.cdx.json`. It omits what differs between runs or folders, so
 * that the same sources give the same package.
 */
export function writeSbom() {
  const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--omit=dev', '--package-lock-only'];
  const stdout = npm(args, { cwd: root });
  const sbom = JSON.parse(stdout.replaceAll(JSON.stringify(basename(root)), '"latchkey"'));
  delete sbom.serialNumber;
  delete sbom.metadata.timestamp;
  writeFileSync(join(dist, SBOM), `${JSON.stringify(sbom, undefined, 2)}\n`);
}
