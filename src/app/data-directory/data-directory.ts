/**
 * The data directory and the secrets generated in it (operations 2.2): the root encryption key and the signing keys.
 * The first process creates them, and they are never overwritten.
 */
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { checkOwnership, type ProcessAccount, processAccount } from '#platform/base/ownership.ts';
import { isDiskFull } from '#platform/base/system-errors.ts';
import { makeSigningKeys, readOrMakeEncryptionKey, writeVersion } from './generated-secrets.ts';
import { rootKeyPaths } from './root-key-files.ts';

export interface DataDirectoryOptions {
  /** Absolute; created if needed. */
  readonly dataDir: string;
  /** Whether other accounts may traverse it: needed by the embedded server if this process runs as root. */
  readonly isTraversable: boolean;
  /** Whether no source sets `secrets.encryption`. */
  readonly needsEncryptionKey: boolean;
  /** Whether no source sets `secrets.keys`. */
  readonly needsSigningKeys: boolean;
  /** Account of this process; overridden in tests. */
  readonly account?: ProcessAccount | undefined;
  /** Version of the program, for the file `VERSION`. */
  readonly version: string;
}

export interface DataDirectory {
  /** 64 hexadecimal characters, if requested. */
  readonly encryptionKey?: string;
  /** Directory of the signing keys, if requested. */
  readonly keysDir?: string;
  readonly warnings: readonly string[];
}

/**
 * Creates the directory and missing secrets.
 * @throws ExitError 77 if it cannot be created or written, 78 if others own it or may write to it, or a file cannot be
 * used
 */
export async function prepareDataDirectory(options: DataDirectoryOptions): Promise<DataDirectory> {
  const { dataDir } = options;
  try {
    const mode = options.isTraversable ? 0o711 : 0o700;
    await mkdir(dataDir, { recursive: true, mode });
    if (!(await stat(dataDir)).isDirectory())
      throw new ExitError(ExitCode.config, `data_dir: ${dataDir} is not a directory`);
    const before = await listPermissionProblems(dataDir, options.account ?? processAccount());
    if (before.errors.length > 0) throw new ExitError(ExitCode.config, before.errors.join('\n'));
    await writeVersion(dataDir, options.version);
    const [encryptionKey, keysDir] = await Promise.all([
      options.needsEncryptionKey ? readOrMakeEncryptionKey(dataDir) : undefined,
      options.needsSigningKeys ? makeSigningKeys(dataDir) : undefined,
    ]);
    return {
      ...(encryptionKey === undefined ? {} : { encryptionKey }),
      ...(keysDir === undefined ? {} : { keysDir }),
      warnings: before.warnings,
    };
  } catch (cause) {
    if (cause instanceof ExitError || !(cause instanceof Error) || isDiskFull(cause)) throw cause;
    throw new ExitError(ExitCode.noPermission, `data_dir: ${cause.message}`, { cause });
  }
}

/**
 * Group and others. For directories only listing matters, because the embedded server's account has to traverse them.
 */
const ACCESSIBLE = 0o077;
const LISTABLE = 0o066;

interface PermissionProblems {
  readonly warnings: string[];
  /** Problems that prevent a start, because others could plant keys. */
  readonly errors: string[];
}

/**
 * Checks owner, group and mode of the data directory, of `keys/`, and of the secret files in them, if they exist.
 * Generated files are private to one account, so any access by another is a warning at least.
 */
export async function listPermissionProblems(
  dataDir: string,
  account: ProcessAccount | undefined,
): Promise<PermissionProblems> {
  const problems: PermissionProblems = { warnings: [], errors: [] };
  const keysDir = join(dataDir, 'keys');
  const judge = async (path: string, unwanted: number): Promise<void> => {
    const status = await stat(path).catch(() => undefined);
    if (status === undefined) return;
    const { error, warning } = checkOwnership(path, status, account);
    if (error !== undefined) problems.errors.push(error);
    else if (warning !== undefined) problems.warnings.push(warning);
    else if ((status.mode & unwanted) !== 0) {
      const mode = (status.mode & 0o777).toString(8).padStart(4, '0');
      problems.warnings.push(`${path} has mode ${mode}: other system users have access to it; run chmod go-rw on it`);
    }
  };
  await judge(dataDir, LISTABLE);
  await judge(keysDir, LISTABLE);
  const keys = await readdir(keysDir).catch(() => []);
  for (const path of [...Object.values(rootKeyPaths(dataDir)), ...keys.map((name) => join(keysDir, name))]) {
    await judge(path, ACCESSIBLE);
  }
  return problems;
}
