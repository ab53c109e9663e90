/**
 * The data directory and what is generated in it (operations 2.2): the root key of everything sealed, and the signing
 * keys. Each is made once, by whichever process is first, and never overwritten.
 */
import { mkdir, stat } from 'node:fs/promises';
import { ExitError } from '#platform/base/errors.ts';
import { type ProcessAccount, processAccount } from '#platform/base/ownership.ts';
import { readOrMakeEncryptionKey } from './encryption-key.ts';
import { listPermissionProblems } from './permissions.ts';
import { makeSigningKeys } from './signing-key-files.ts';
import { writeVersion } from './version-file.ts';

export interface DataDirectoryOptions {
  /** Absolute; made when needed. */
  readonly dataDir: string;
  /** Whether other accounts may pass through: the embedded server's, when this process is root. */
  readonly isPassable: boolean;
  /** Whether no source sets `secrets.encryption`. */
  readonly needsEncryptionKey: boolean;
  /** Whether no source sets `secrets.keys`. */
  readonly needsSigningKeys: boolean;
  /** Of this process; for tests. */
  readonly account?: ProcessAccount | undefined;
  /** Of the program, for the file `VERSION`. */
  readonly version: string;
}

export interface DataDirectory {
  /** 64 hexadecimal characters, when asked for. */
  readonly encryptionKey?: string;
  /** Directory of the signing keys, when asked for. */
  readonly keysDir?: string;
  readonly warnings: readonly string[];
}

/**
 * Makes the directory and what is missing in it.
 * @throws ExitError 77 when it cannot be made or written, 78 when others own it or may write to it, or a file cannot be used
 */
export async function prepareDataDirectory(options: DataDirectoryOptions): Promise<DataDirectory> {
  const { dataDir } = options;
  try {
    const mode = options.isPassable ? 0o711 : 0o700;
    await mkdir(dataDir, { recursive: true, mode });
    if (!(await stat(dataDir)).isDirectory()) throw new ExitError(78, `data_dir: ${dataDir} is not a directory`);
    const before = await listPermissionProblems(dataDir, options.account ?? processAccount());
    if (before.errors.length > 0) throw new ExitError(78, before.errors.join('\n'));
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
    if (cause instanceof ExitError || !(cause instanceof Error)) throw cause;
    throw new ExitError(77, `data_dir: ${cause.message}`, { cause });
  }
}
