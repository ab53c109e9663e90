/**
 * Checks that the output of `npm pack` runs by `npx` with only Node.js and npm. It packs twice and compares the bytes,
 * the second time without an installation. Then it installs the package into an empty home, starts it in an empty
 * folder, and stops it. Finally it repeats this like a container: install scripts disabled, and the service's account
 * without write access.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { start } from './start-service.js';

const FOLDERS = /^package\/(?:bin|dist|share|migrations|locales)\//;
const FILES = new Set(['package/package.json', 'package/LICENSE', 'package/README.md']);
const MAX_MEGABYTES = 12;
/** Account of the service in a container if this runs as root: an unprivileged one that exists on every system. */
const NOBODY = { uid: 65_534, gid: 65_534 };

const place = mkdtempSync(join(tmpdir(), 'latchkey-package-'));
const home = join(place, 'home');
const folder = join(place, 'empty');
const environment = { PATH: process.env.PATH, HOME: home, npm_config_cache: join(place, 'cache') };
// If this runs as root, the database account needs access.
chmodSync(place, 0o755);
for (const path of [home, folder]) mkdirSync(path);
try {
  const manifest = readFileSync('package.json', 'utf8');
  const first = pack('first', process.cwd());
  if (!readFileSync(first).equals(readFileSync(pack('second', copySources())))) throw new Error('two packs differ');
  if (readFileSync('package.json', 'utf8') !== manifest) throw new Error('package.json was not brought back');
  examine(first);
  await startByNpx(first);
  await startWithoutRights(first);
} finally {
  rmSync(place, { recursive: true, force: true });
}

function pack(name, sources) {
  const to = join(place, name);
  mkdirSync(to);
  const [{ filename }] = JSON.parse(execute('npm', ['pack', '--json', '--pack-destination', to], process.env, sources));
  return join(to, filename);
}

/** Copies the content of a clone, without installed packages. */
function copySources() {
  const sources = join(place, 'sources');
  const files = execute('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], process.env);
  for (const file of files.split('\0').filter((name) => name !== '')) cpSync(file, join(sources, file));
  return sources;
}

function examine(archive) {
  const names = execute('tar', ['--list', '--gzip', '--file', archive], process.env).trim().split('\n');
  const foreign = names.filter((name) => !FOLDERS.test(name) && !FILES.has(name));
  if (foreign.length > 0) throw new Error(`the package holds ${foreign.join(', ')}`);
  for (const name of ['third-party-notices.txt', 'sbom.cdx.json', 'main.js', 'assets/manifest.json']) {
    if (!names.includes(`package/dist/${name}`)) throw new Error(`the package lacks dist/${name}`);
  }
  const megabytes = readFileSync(archive).length / 1e6;
  if (megabytes > MAX_MEGABYTES) throw new Error(`the package is ${megabytes.toFixed(1)} MB`);
  process.stdout.write(`${names.length} files, ${megabytes.toFixed(1)} MB\n`);
}

async function startByNpx(archive) {
  const npx = ['--yes', '--package', archive, '--', 'latchkey'];
  const version = execute('npx', [...npx, '--version'], environment, folder).trim();
  await start('npx', [...npx, 'serve'], { cwd: folder, env: environment });
  process.stdout.write(`version ${version} answers\n`);
}

/** Installs and starts like `packaging/Containerfile`. */
async function startWithoutRights(archive) {
  const prefix = join(place, 'prefix');
  const data = join(place, 'data');
  // With a different prefix, npm ignores this machine's configuration, so its variables must be set.
  const withVariables = { ...process.env, npm_config_cache: environment.npm_config_cache };
  execute('npm', ['install', '--global', '--prefix', prefix, '--ignore-scripts', archive], withVariables, folder);
  mkdirSync(data);
  const isRoot = process.getuid() === 0;
  if (isRoot) chownSync(data, NOBODY.uid, NOBODY.gid);
  else execute('chmod', ['-R', 'a-w', prefix], environment);
  try {
    const main = join(prefix, 'lib/node_modules/latchkey/dist/main.js');
    // Without PATH, because an installed PostgreSQL would be used instead of the bundled one.
    const env = { ...environment, PATH: data, LATCHKEY_DATA_DIR: data };
    await start(process.execPath, [main, 'serve'], { cwd: data, env, ...(isRoot ? NOBODY : {}) });
  } finally {
    if (!isRoot) execute('chmod', ['-R', 'u+w', prefix], environment);
  }
  process.stdout.write('it answers where it may not write to its package\n');
}

function execute(program, args, env, cwd = process.cwd()) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, env, encoding: 'utf8' });
  if (status !== 0) throw error ?? new Error(`${program} ${args.join(' ')} ended with code ${status}: ${stderr}`);
  return stdout;
}
