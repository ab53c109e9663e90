/**
 * Checks what `npm run release` makes, by a rehearsal: signatures and checksums hold and a changed file is found, the
 * archive runs where it is unpacked, and the image runs as its account on a read-only root file system. With
 * `--twice`, a second build must give the same bytes. With a folder as argument, only its archive and image run.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { start } from './start-service.js';

const NOBODY = { uid: 65_534, gid: 65_534 };
const IMAGE_USER = 1000;
const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' };

const isRoot = process.getuid() === 0;
const place = mkdtempSync(join(tmpdir(), 'latchkey-release-check-'));
chmodSync(place, 0o755);
const [existing] = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const files = existing ?? join(place, 'release');
try {
  if (existing === undefined) rehearse(files);
  if (process.argv.includes('--twice')) buildAgain();
  const nameOf = (ending) =>
    join(
      files,
      readdirSync(files).find((name) => name.endsWith(ending)),
    );
  await runArchive(nameOf(`-linux-${process.arch}.tar.gz`));
  await runImage(nameOf('-oci.tar'));
  if (existing === undefined) findChanges(nameOf('.tgz'));
} finally {
  rmSync(place, { recursive: true, force: true });
}

function rehearse(to) {
  // One time for all rehearsals, so that their commits are the same.
  const env = { ...process.env, SOURCE_DATE_EPOCH: execute('git', ['log', '-1', '--format=%ct']).trim() };
  execute('npm', ['run', '--silent', 'release', '--', '--dry-run', '--output', to], env);
  if (spawnSync('minisign', ['-v']).error === undefined) {
    execute('minisign', ['-V', '-m', join(to, 'SHA256SUMS'), '-p', join(to, 'release-key.pub')]);
    say('minisign accepts the signature');
  }
}

/** The signed files differ, because each rehearsal has its own key. */
function buildAgain() {
  const second = join(place, 'second');
  rehearse(second);
  const sums = (folder) =>
    readFileSync(join(folder, 'SHA256SUMS'), 'utf8')
      .split('\n')
      .filter((line) => !line.endsWith('.intoto.jsonl'));
  const before = sums(files);
  const different = sums(second).filter((line, index) => line !== before[index]);
  if (different.length > 0) throw new Error(`a second build differs:\n${different.join('\n')}`);
  say(`a second build gives the same ${before.length - 1} files`);
}

/** A changed file, a foreign file and another key must be found. */
function findChanges(file) {
  const key = join(files, 'release-key.pub');
  const other = join(place, 'other');
  execute('npm', ['run', '--silent', 'release', '--', 'new-key', other]);
  const mustFail = (trusted, words) => {
    const { status, stderr } = spawnSync(
      'npm',
      ['run', '--silent', 'release', '--', 'verify', files, '--key', trusted],
      {
        encoding: 'utf8',
      },
    );
    if (status === 0 || !stderr.includes(words)) throw new Error(`verification did not say "${words}": ${stderr}`);
  };
  mustFail(`${other}.pub`, 'signed with the key');
  const content = readFileSync(file);
  writeFileSync(file, Buffer.concat([content, Buffer.from('\n')]));
  mustFail(key, 'says');
  writeFileSync(file, content);
  writeFileSync(join(files, 'foreign'), '');
  mustFail(key, 'has no checksum');
  say('another key, a changed file and a foreign file are found');
}

async function runArchive(archive) {
  const folder = join(place, 'unpacked');
  const data = join(place, 'archive-data');
  for (const path of [folder, data]) mkdirSync(path);
  execute('tar', ['--extract', '--file', archive, '--directory', folder, '--strip-components=1']);
  if (isRoot) chownSync(data, NOBODY.uid, NOBODY.gid);
  const program = join(folder, 'bin/latchkey');
  const kilobytes = execute('du', ['--summarize', '-k', folder]);
  // Only the commands of the system: neither this Node.js nor an installed PostgreSQL.
  const env = { PATH: '/usr/bin:/bin', LATCHKEY_DATA_DIR: data };
  await start(program, ['serve'], { cwd: data, env, ...(isRoot ? NOBODY : {}) });
  const megabytes = { packed: readFileSync(archive).length / 1e6, unpacked: Number.parseInt(kilobytes, 10) / 1e3 };
  say(`the archive runs: ${megabytes.packed.toFixed(0)} MB, ${megabytes.unpacked.toFixed(0)} MB unpacked`);
}

async function runImage(archive) {
  const layout = join(place, 'layout');
  const root = join(place, 'root');
  const data = join(place, 'image-data');
  for (const path of [layout, root, data]) mkdirSync(path);
  execute('tar', ['--extract', '--file', archive, '--directory', layout]);
  const images = imagesOf(layout);
  for (const expected of Object.values(ARCHITECTURES)) {
    const { config } = images.find(({ platform }) => platform.architecture === expected) ?? {};
    if (config?.architecture !== expected) throw new Error(`the image lacks ${expected}`);
  }
  const { config, layers } = images.find(({ platform }) => platform.architecture === ARCHITECTURES[process.arch]);
  const { User, Entrypoint, Env, WorkingDir, Healthcheck } = config.config;
  if (User !== `${IMAGE_USER}:${IMAGE_USER}`) throw new Error(`the image runs as ${User}`);
  for (const layer of layers) execute('tar', ['--extract', '--file', layer, '--directory', root, '--same-owner']);
  if (!isRoot || spawnSync('unshare', ['--mount', 'true']).status !== 0) {
    say('skipped: running the image needs root and mount namespaces');
    return;
  }
  // As a container engine does.
  writeFileSync(join(root, 'etc/hosts'), '127.0.0.1 localhost\n::1 localhost\n');
  chmodSync(data, 0o700);
  chownSync(data, IMAGE_USER, IMAGE_USER);
  // What a container engine does with `--read-only --tmpfs /tmp --volume DATA:/data`.
  const script = [
    'set -e; root=$1; data=$2; shift 2',
    'mount --bind "$root" "$root"',
    'mount --rbind /dev "$root/dev"; mount -t proc proc "$root/proc"; mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"',
    'mount --bind "$data" "$root/data"',
    'mount -o remount,bind,ro "$root"',
    `enter() { chroot --userspec=${IMAGE_USER}:${IMAGE_USER} "$root" "$@"; }`,
    '! enter /bin/sh -c ": > /opt/latchkey/written" 2>/dev/null',
    `exec chroot --userspec=${IMAGE_USER}:${IMAGE_USER} "$root" "$@"`,
  ].join('\n');
  const ofImage = Object.fromEntries(Env.map((line) => line.split(/=(.*)/s, 2)));
  // With this system's directories of `chroot` and `mount`.
  const env = { ...ofImage, PATH: `${ofImage.PATH}:/usr/sbin:/sbin` };
  const inRoot = ['/bin/sh', '-c', `cd ${WorkingDir} && exec "$@"`, 'sh'];
  const namespace = ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', script, 'sh', root, data, ...inRoot];
  await start('unshare', [...namespace, ...Entrypoint, 'serve'], {
    cwd: data,
    env,
    whileRunning: async (base) => {
      const PORT = new URL(base).port;
      const [, ...test] = Healthcheck.Test;
      const check = spawnSync('chroot', [`--userspec=${IMAGE_USER}`, root, ...test], { env: { ...env, PORT } });
      if (check.status !== 0) throw new Error(`the health check of the image fails: ${check.stderr}`);
      const owner = execute('stat', ['--format=%u', join(data, readdirSync(data)[0])]).trim();
      if (owner !== String(IMAGE_USER)) throw new Error(`the image wrote its data as user ${owner}`);
    },
  });
  const version = spawnSync('chroot', [`--userspec=${IMAGE_USER}`, root, '/usr/local/bin/mas-cli', '--version'], {
    env,
  });
  if (version.status !== 0) throw new Error(`mas-cli does not run in the image: ${version.stderr}`);
  say(`the image runs as user ${User} on a read-only root file system, and is healthy`);
}

function imagesOf(layout) {
  const blob = ({ digest }) => join(layout, 'blobs', digest.replace(':', '/'));
  const read = (descriptor) => JSON.parse(readFileSync(blob(descriptor), 'utf8'));
  const { manifests } = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8'));
  return manifests
    .flatMap((index) => read(index).manifests)
    .map((descriptor) => {
      const manifest = read(descriptor);
      return { platform: descriptor.platform, config: read(manifest.config), layers: manifest.layers.map(blob) };
    });
}

function execute(program, args, env = process.env) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { env, encoding: 'utf8' });
  if (status !== 0) throw error ?? new Error(`${program} ${args.join(' ')} ended with code ${status}: ${stderr}`);
  return stdout;
}

function say(text) {
  process.stdout.write(`${text}\n`);
}
