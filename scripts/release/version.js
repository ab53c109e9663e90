import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from '../steps/program.js';

/** Files that name the version besides the manifest, with the text around it. */
const NAMED_IN = {
  'docs/guides/install.md': [/(?<=latchkey-)VERSION(?=\.tgz)/g],
  'packaging/helm/latchkey/Chart.yaml': [/(?<=^version: )VERSION$/gm, /(?<=^appVersion: )VERSION$/gm],
  'packaging/kubernetes.yaml': [/(?<=latchkey:)VERSION$/gm],
};
const CONTACT_PLACEHOLDER = 'SECURITY-CONTACT';
const FORM = /^\d+\.\d+\.\d+$/;

/** Sets the version of a source tree: manifest, lockfile, the files above, and the date in the changelog. */
export function setVersion(sources, version, day) {
  const before = versionOf(sources);
  npm(['version', version, '--no-git-tag-version', '--allow-same-version', '--ignore-scripts'], { cwd: sources });
  for (const [file, patterns] of Object.entries(NAMED_IN)) {
    const path = join(sources, file);
    let text = readFileSync(path, 'utf8');
    for (const { source, flags } of patterns) {
      const pattern = RegExp(source.replace('VERSION', before.replaceAll('.', '\\.')), flags);
      if (!pattern.test(text)) throw new Error(`${file} does not name the version ${before}`);
      text = text.replace(pattern, version);
    }
    writeFileSync(path, text);
  }
  const path = join(sources, 'CHANGELOG.md');
  writeFileSync(path, readFileSync(path, 'utf8').replace(`## ${version} (unreleased)`, `## ${version} (${day})`));
}

export function versionOf(sources) {
  return JSON.parse(readFileSync(join(sources, 'package.json'), 'utf8')).version;
}

/** Returns the version of the changelog's first section, and its text if it is not released yet. */
export function nextSection(sources) {
  const [, version, state, text] =
    /^## (\S+) \((.*)\)\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(readFileSync(join(sources, 'CHANGELOG.md'), 'utf8')) ??
    [];
  return state === 'unreleased' ? { version, text: text.trim() } : undefined;
}

/** Returns what speaks against a version; nothing if it can be released. */
export function problemsOfVersion(sources, version) {
  if (!FORM.test(version)) return [`${version} is not a version like 1.2.3`];
  const problems = [];
  const before = versionOf(sources);
  if (!isLater(version, before)) problems.push(`${version} is not later than ${before}`);
  const section = nextSection(sources);
  if (section?.version !== version || section.text === '') {
    problems.push(`CHANGELOG.md does not start with a section "## ${version} (unreleased)" that has text`);
  }
  if (readFileSync(join(sources, 'SECURITY.md'), 'utf8').includes(CONTACT_PLACEHOLDER)) {
    problems.push(`SECURITY.md still has the placeholder ${CONTACT_PLACEHOLDER} instead of an address`);
  }
  return problems;
}

function isLater(version, before) {
  const [left, right] = [version, before].map((one) => one.split('.').map(Number));
  const index = left.findIndex((part, position) => part !== right[position]);
  return index >= 0 && left[index] > right[index];
}
