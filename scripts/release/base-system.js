import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { output } from '../steps/program.js';
import { sha256 } from './digest.js';

const SUITE = 'bookworm';
/**
 * What Node.js and the embedded PostgreSQL need: the C and C++ libraries, the locale C.UTF-8, and the shell that
 * `initdb` calls. It contains neither a package manager nor other programs.
 */
const PACKAGES = ['base-files', 'libc6', 'libc-bin', 'gcc-12-base', 'libgcc-s1', 'libstdc++6', 'dash'];
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const SOURCES = [
  `deb [signed-by=${KEYRING}] http://deb.debian.org/debian ${SUITE} main`,
  `deb [signed-by=${KEYRING}] http://deb.debian.org/debian ${SUITE}-updates main`,
  `deb [signed-by=${KEYRING}] http://deb.debian.org/debian-security ${SUITE}-security main`,
];
/** Directories of the packages that no program here reads. */
const UNUSED = ['usr/share/man', 'usr/share/info', 'usr/share/lintian', 'usr/share/locale'];
/** Files that scripts of the packages would write. */
const NOT_PACKAGED = {
  'etc/passwd': 'root:x:0:0:root:/:/usr/sbin/nologin\nnode:x:1000:1000::/data:/bin/sh\n',
  'etc/group': 'root:x:0:\nnode:x:1000:\n',
  'etc/nsswitch.conf': 'hosts: files dns\n',
};

/**
 * Unpacks Debian packages of an architecture into `to`, verified by apt with Debian's key, without running their
 * scripts. Returns the packages with version and checksum.
 */
export function unpackBaseSystem(architecture, place, to) {
  if (!existsSync(KEYRING)) throw new Error(`${KEYRING} is missing: install debian-archive-keyring`);
  const downloads = join(place, 'packages');
  const configuration = writeAptConfiguration(architecture, place);
  for (const folder of [downloads, to]) mkdirSync(folder, { recursive: true });
  const options = { cwd: downloads, env: { APT_CONFIG: configuration, DEBIAN_FRONTEND: 'noninteractive' } };
  output('apt-get', ['--quiet=2', 'update'], options);
  output('apt-get', ['--quiet=2', 'download', ...PACKAGES], options);
  mkdirSync(join(to, 'var/lib/dpkg/status.d'), { recursive: true });
  const contents = readdirSync(downloads)
    .toSorted()
    .map((file) => unpack(join(downloads, file), to));
  for (const folder of UNUSED) rmSync(join(to, folder), { recursive: true, force: true });
  keepOnlyLicences(join(to, 'usr/share/doc'));
  for (const folder of ['dev', 'proc', 'sys', 'tmp', 'data', 'usr/local/bin', 'opt']) {
    mkdirSync(join(to, folder), { recursive: true });
  }
  for (const [file, text] of Object.entries(NOT_PACKAGED)) writeFileSync(join(to, file), text);
  return contents;
}

/** Writes the configuration of an apt that knows only this architecture and these sources. */
function writeAptConfiguration(architecture, place) {
  const folder = join(place, 'apt');
  for (const name of ['lists/partial', 'archives/partial', 'parts']) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'sources.list'), `${SOURCES.join('\n')}\n`);
  writeFileSync(join(folder, 'status'), '');
  const file = join(folder, 'apt.conf');
  const settings = {
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'APT::Sandbox::User': 'root',
    'Acquire::Languages': 'none',
    'Dir::State::lists': join(folder, 'lists'),
    'Dir::State::status': join(folder, 'status'),
    'Dir::Cache': folder,
    'Dir::Etc::sourcelist': join(folder, 'sources.list'),
    'Dir::Etc::sourceparts': join(folder, 'parts'),
  };
  const lines = Object.entries(settings).map(([key, value]) => `${key} "${value}";`);
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

/** Unpacks a package. Its control file stays, so that scanners find it. */
function unpack(file, to) {
  const [name, version] = output('dpkg-deb', ['--show', file])
    .trim()
    .replace(/:\w+\t/, '\t')
    .split('\t');
  output('dpkg-deb', ['--extract', file, to]);
  writeFileSync(join(to, 'var/lib/dpkg/status.d', name), output('dpkg-deb', ['--field', file]));
  return { name, version, sha256: sha256(file) };
}

function keepOnlyLicences(folder) {
  for (const { name, parentPath } of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (parentPath !== folder && name !== 'copyright') rmSync(join(parentPath, name), { recursive: true, force: true });
  }
}
