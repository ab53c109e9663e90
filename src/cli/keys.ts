/** `latchkey keys ...`: lists and generates signing keys. Does not open the database. */
import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { loadSigningKeys } from '#app/service/foundation.ts';
import { configSources } from '#app/service/process-context.ts';
import { loadConfig } from '#config/load.ts';
import type { ListedKey } from '#domain/keys/signing-keys.ts';
import { systemClock } from '#platform/base/clock.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { nodeAt } from '#platform/config/tree.ts';
import { generatePrivateKey, isKeyType, KEY_TYPES } from '#protocol/jose/key-types.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';
import { createFile } from './output-file.ts';
import { table } from './table.ts';

export interface ConfiguredKeys {
  /** In order of signing preference. */
  readonly keys: readonly ListedKey[];
  /** The key directory, if one is used. */
  readonly directory: string | undefined;
  /** Maximum lifetime of JWTs signed with the keys. */
  readonly idTokenTtlSeconds: number;
}

/**
 * Loads the keys that a service with this configuration uses. Generates nothing.
 * @throws ExitError 1 if no keys are configured or generated yet, 78 for an invalid configuration or key
 */
export function readConfiguredKeys(options: CommandOptions, io: CommandIo): ConfiguredKeys {
  const sources = configSources(options, io);
  const first = loadConfig(sources);
  const generated = join(first.config.dataDir, 'keys');
  const loaded = isDirectory(generated) ? loadConfig({ ...sources, generated: { keysDir: generated } }) : first;
  const { secrets, oauth } = loaded.config;
  const directory = nodeAt(loaded.tree, ['secrets', 'keys_dir']);
  if (directory === undefined && secrets.keys.length === 0) {
    throw new ExitError(ExitCode.failure, `no signing keys yet: the first start creates them in ${generated}`);
  }
  return {
    keys: loadSigningKeys(secrets, loaded.tree).list(),
    directory: directory?.kind === 'scalar' ? String(directory.value) : undefined,
    idTokenTtlSeconds: oauth.idTokenTtlSeconds,
  };
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Returns true if the key is a file of the directory, which commands may rename. */
export function isInDirectory({ name }: ListedKey, directory: string | undefined): boolean {
  return directory !== undefined && dirname(name) === directory;
}

/** Prints the keys without their private parts. */
export function listKeys(options: CommandOptions, io: CommandIo): void {
  const configured = readConfiguredKeys(options, io);
  io.stdout(options.isJson ? `${JSON.stringify({ keys: describeKeys(configured) })}\n` : keyTable(configured));
}

/** One key in `--json` output. */
interface DescribedKey {
  readonly kid: string;
  readonly type: string;
  readonly alg: string;
  readonly source: string;
  readonly state: 'signing' | 'published';
  /** Time since its file was written or the key was replaced; null if it has no known file. */
  readonly age_seconds: number | null;
}

export function describeKeys({ keys, directory }: ConfiguredKeys): readonly DescribedKey[] {
  return keys.map((key) => ({
    kid: key.kid,
    type: key.type,
    alg: key.algorithm,
    source: key.name,
    state: key.isSigning ? 'signing' : 'published',
    age_seconds: isInDirectory(key, directory) ? ageSeconds(key.name) : null,
  }));
}

function ageSeconds(path: string): number | null {
  const status = statSync(path, { throwIfNoEntry: false });
  return status === undefined ? null : Math.max(0, Math.round((systemClock.now() - status.mtimeMs) / 1000));
}

export function keyTable(configured: ConfiguredKeys): string {
  const rows = describeKeys(configured).map((key) => [
    key.kid,
    key.type,
    key.alg,
    key.state,
    key.age_seconds === null ? '-' : ageText(key.age_seconds),
    key.source,
  ]);
  return table([['KID', 'TYPE', 'ALG', 'STATE', 'AGE', 'SOURCE'], ...rows]);
}

function ageText(seconds: number): string {
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

/**
 * Generates a private key (PKCS#8, PEM) and prints it, or writes it to a file of mode 0600.
 * @throws ExitError 2 for an unknown type, 73 if the file exists
 */
export async function generateKey(
  options: Pick<CommandOptions, 'isJson'>,
  command: { readonly type: string; readonly output?: string | undefined },
  io: Pick<CommandIo, 'stdout' | 'workingDirectory'>,
): Promise<void> {
  const { type } = command;
  if (!isKeyType(type)) {
    throw new ExitError(
      ExitCode.usage,
      `unknown key type ${JSON.stringify(type)}; expected one of ${KEY_TYPES.join(', ')}`,
    );
  }
  const key = await generatePrivateKey(type);
  if (command.output === undefined) {
    io.stdout(options.isJson ? `${JSON.stringify({ type, key })}\n` : key);
    return;
  }
  const path = resolve(io.workingDirectory, command.output);
  createFile(path, key, 'keys are never overwritten');
  io.stdout(options.isJson ? `${JSON.stringify({ type, path })}\n` : `${path}\n`);
}
