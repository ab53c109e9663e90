/** Patroni, etcd and PgBouncer from Debian packages: unpacked without an installation, so that no service starts. */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { debianPackages, run } from '../apps/install.js';

const POSTGRES = '/usr/lib/postgresql';
/** Includes dependencies that a server lacks: the modules of Patroni, and libraries of PgBouncer. */
const PACKAGES = [
  ...[
    'patroni',
    'etcd-server',
    'pgbouncer',
    'python3-etcd',
    'python3-dnspython',
    'python3-psycopg2',
    'python3-urllib3',
  ],
  ...['python3-dateutil', 'python3-prettytable', 'python3-wcwidth', 'python3-psutil', 'python3-click', 'python3-cdiff'],
  ...['python3-yaml', 'python3-six', 'python3-colorama', 'libc-ares2', 'libevent-2.1-7'],
];

/** @returns the paths of the programs, and the environment that they need */
export async function programs() {
  await debianPackages(['postgresql'], POSTGRES);
  await debianPackages(['python3'], '/usr/bin/python3');
  const folder = join(tmpdir(), 'latchkey-cluster-programs');
  const stamp = join(folder, 'complete');
  if (!existsSync(stamp)) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    await download(folder);
    for (const name of readdirSync(folder)) await run('dpkg-deb', ['-x', name, '.'], { cwd: folder });
    writeFileSync(stamp, '');
  }
  const version = readdirSync(POSTGRES).sort((one, other) => Number(other) - Number(one))[0];
  return {
    bin: join(POSTGRES, version, 'bin'),
    etcd: join(folder, 'usr/bin/etcd'),
    patroni: ['/usr/bin/python3', join(folder, 'usr/bin/patroni')],
    pgbouncer: join(folder, 'usr/sbin/pgbouncer'),
    environment: {
      ...{ PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', HOME: '/nonexistent' },
      PYTHONPATH: join(folder, 'usr/lib/python3/dist-packages'),
      LD_LIBRARY_PATH: join(folder, 'usr/lib', `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`),
    },
  };
}

/** A new container may not have Debian's package lists. */
async function download(folder) {
  try {
    await run('apt-get', ['download', ...PACKAGES], { cwd: folder });
  } catch {
    await run('apt-get', ['update', '-qq']);
    await run('apt-get', ['download', ...PACKAGES], { cwd: folder });
  }
}
