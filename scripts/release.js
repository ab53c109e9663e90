/**
 * Makes a release, for maintainers: docs/guides/release.md.
 *
 *     npm run release -- VERSION                checks, sets the version, builds, verifies and tags
 *     npm run release -- [VERSION] --dry-run    the same in a copy of the last commit, without a change here
 *     npm run release -- build                  builds the files of the commit that is checked out
 *     npm run release -- verify FOLDER --key FILE
 *     npm run release -- new-key FILE           writes a new key to FILE, and its public key to FILE.pub
 *
 * `--output FOLDER` names another place than `release/`.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildArtifacts, PUBLIC_KEY } from './release/build-artifacts.js';
import { newSigningKey, publicKeyFile, readSigningKey } from './release/signing-key.js';
import { verifyArtifacts } from './release/verify.js';
import { nextSection, problemsOfVersion, setVersion, versionOf } from './release/version.js';
import { runToEnd } from './steps/child.js';
import { root } from './steps/places.js';
import { output } from './steps/program.js';
import { run } from './steps/run.js';
import { say } from './steps/say.js';

const git = (args, cwd = root, env = {}) => output('git', args, { cwd, env }).trim();

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'dry-run': { type: 'boolean', default: false },
    output: { type: 'string', default: join(root, 'release') },
    key: { type: 'string' },
  },
});
const [command, argument] = positionals;
const folder = resolve(values.output);

await run(async () => {
  if (command === 'build') return buildArtifacts(folder, requiredKey());
  if (command === 'verify') return verifyArtifacts(resolve(argument ?? folder), trustedKey());
  if (command === 'new-key') return writeNewKey(argument);
  if (values['dry-run']) return rehearse(command ?? nextSection(root)?.version ?? versionOf(root));
  if (command === undefined) throw new Error('which version? For example `npm run release -- 1.0.0`');
  return release(command);
});

async function release(version) {
  const problems = [...problemsOfVersion(root, version), ...problemsOfRepository(version)];
  if (problems.length > 0) throw new Error(`not released:\n  ${problems.join('\n  ')}`);
  requiredKey();
  await inCopy(async (sources) => {
    prepareCommit(sources, version);
    git(['tag', '--annotate', '--message', `Latchkey ${version}`, `v${version}`], sources);
    await buildIn(sources, process.env);
    git(['fetch', '--quiet', sources, `refs/tags/v${version}:refs/tags/v${version}`]);
    git(['merge', '--quiet', '--ff-only', `v${version}`]);
  });
  say(`v${version} is tagged, and its files are in ${folder}. Publish them: docs/guides/release.md`);
}

/** Does all that a release does, in a copy, and signs with a key that is thrown away. */
async function rehearse(version) {
  for (const problem of [...problemsOfVersion(root, version), ...problemsOfRepository(version)]) {
    say(`a release would stop here: ${problem}`);
  }
  await inCopy(async (sources) => {
    prepareCommit(sources, version);
    const key = newSigningKey().export({ type: 'pkcs8', format: 'pem' });
    await buildIn(sources, { ...process.env, LATCHKEY_RELEASE_KEY: key, LATCHKEY_RELEASE_KEY_FILE: undefined });
  });
}

function problemsOfRepository(version) {
  const problems = [];
  const branch = git(['branch', '--show-current']);
  if (branch !== 'main') problems.push(`the branch is ${branch || 'none'}, not main`);
  if (git(['status', '--porcelain']) !== '') problems.push('there are changes that are not committed');
  if (git(['tag', '--list', `v${version}`]) !== '') problems.push(`v${version} is already tagged`);
  return problems;
}

/** Runs `work` with a clone of the last commit, so that nothing but the commit is in the release. */
async function inCopy(work) {
  const place = mkdtempSync(join(tmpdir(), 'latchkey-sources-'));
  try {
    const sources = join(place, 'latchkey');
    git(['clone', '--quiet', '--no-tags', root, sources]);
    git(['checkout', '--quiet', '-B', 'main', git(['rev-parse', 'HEAD'])], sources);
    await work(sources);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function prepareCommit(sources, version) {
  setVersion(sources, version, new Date().toISOString().slice(0, 10));
  const [name, email] = ['user.name', 'user.email'].map((key) => git(['config', '--default', 'release', key]));
  const { SOURCE_DATE_EPOCH: epoch } = process.env;
  const date = epoch === undefined ? {} : { GIT_AUTHOR_DATE: `@${epoch}`, GIT_COMMITTER_DATE: `@${epoch}` };
  git(['commit', '--quiet', '--all', '--allow-empty', '--message', `build(release): ${version}`], sources, {
    ...{ GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email },
    ...{ GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email },
    ...date,
  });
}

/** Builds with the scripts of the copy, and verifies the result. */
async function buildIn(sources, environment) {
  const script = join(sources, 'scripts/release.js');
  await runToEnd('the build', process.execPath, [script, 'build', '--output', folder], sources, environment);
  verifyArtifacts(folder, readFileSync(join(folder, PUBLIC_KEY), 'utf8'));
}

function requiredKey() {
  const key = readSigningKey(process.env);
  if (key === undefined) throw new Error('set LATCHKEY_RELEASE_KEY_FILE to the file of the release key');
  return key;
}

function trustedKey() {
  if (values.key === undefined) throw new Error('name the file of the trusted public key: --key FILE');
  return readFileSync(values.key, 'utf8');
}

function writeNewKey(file) {
  if (file === undefined) throw new Error('name the file of the new key: npm run release -- new-key FILE');
  for (const path of [file, `${file}.pub`]) if (existsSync(path)) throw new Error(`${path} exists`);
  const key = newSigningKey();
  writeFileSync(file, key.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  writeFileSync(`${file}.pub`, publicKeyFile(key));
}
