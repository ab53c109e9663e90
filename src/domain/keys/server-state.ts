/**
 * Facts fixed at the first start on a database, table `server_state`: a check value of each root key, and the protocol
 * name. Stored rows depend on both, so a start with different ones must fail before any listener opens.
 */
import { createHmac } from 'node:crypto';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { equalDigests } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { type NoParameters, statement } from '#platform/postgres/statement.ts';

const KEY_CHECK = 'encryption-key-check';
const CHECK_BYTES = 32;
const PROTOCOL_NAME = 'protocol-name';

const tableExists = statement<{ exists: boolean }, NoParameters>(
  'server-state-exists',
  `select to_regclass('server_state') is not null as exists`,
);

/** Returns one row with `value`, for `keyChecksOf`, once the server has started on this database. */
export const KEY_CHECK_QUERY = `select value from server_state where key = '${KEY_CHECK}'`;

const findFact = statement<{ value: Buffer }, { readonly key: string }>(
  'server-fact-by-key',
  'select value from server_state where key = :key',
);

/** Keeps an existing value: the first start wins. */
const insertFact = statement<never, { readonly key: string; readonly value: Buffer }>(
  'insert-server-fact',
  'insert into server_state (key, value) values (:key, :value) on conflict (key) do nothing',
);

/** Adds a root key. The row is locked, so that one of several concurrently starting instances adds it. */
const addKeyCheck = statement<never, { readonly key: string; readonly value: Buffer }>(
  'add-key-check',
  `update server_state set value = value || :value::bytea
   where key = :key::text and position(:value::bytea in value) = 0`,
);

/** Replaces the value unless another root key was added in the meantime. */
const replaceKeyChecks = statement<never, { readonly key: string; readonly expected: Buffer; readonly value: Buffer }>(
  'replace-key-checks',
  'update server_state set value = :value::bytea where key = :key::text and value = :expected::bytea',
);

/**
 * Returns whether the server has started on this database with an encryption key before. False if it is not migrated.
 */
export async function hasKeyCheck(database: Queryable): Promise<boolean> {
  const table = await database.first(tableExists, {});
  return table?.exists === true && (await database.first(findFact, { key: KEY_CHECK })) !== undefined;
}

/**
 * Stores the facts at the first start and checks them at every later one.
 * @throws ExitError 78 if the encryption key or the protocol name does not match the database
 */
export async function verifyServerState(database: Queryable, keyRing: KeyRing, protocolName: string): Promise<void> {
  const [current = Buffer.alloc(0)] = rootKeyChecks(keyRing);
  await database.execute(insertFact, { key: KEY_CHECK, value: current });
  await requireFit(database, keyRing, protocolName);
  await database.execute(insertFact, { key: PROTOCOL_NAME, value: Buffer.from(protocolName) });
  // A concurrent first start may have been faster, with a different name.
  await requireFit(database, keyRing, protocolName);
  await noteRootKey(database, current);
}

async function requireFit(database: Queryable, keyRing: KeyRing, protocolName: string): Promise<void> {
  const problem = await findStateProblem(database, keyRing, protocolName);
  if (problem !== undefined) throw new ExitError(ExitCode.config, problem);
}

/**
 * Returns why the database cannot be used with these keys and this protocol name, and what to do; undefined if it can.
 * Changes nothing.
 *
 * Every root key that stored values may depend on must be configured. A start without a former key is therefore
 * rejected before a value turns out to be unreadable. A start of an instance without the new key is rejected too.
 */
export async function findStateProblem(
  database: Queryable,
  keyRing: KeyRing,
  protocolName: string,
): Promise<string | undefined> {
  const stored = keyChecksOf(await findKeyChecks(database));
  const unknown = unknownKeyChecks(stored, keyRing);
  if (unknown.length > 0) {
    return unknown.length === stored.length
      ? 'secrets.encryption is not the key that this database was created with. ' +
          'Restore the previous key (data_dir/encryption.key, or secrets.encryption), or point database.uri at the right database.'
      : 'this database contains values encrypted with a root key that is not configured. ' +
          'Add that key to secrets.encryption_previous, or set secrets.encryption as the other instances do.';
  }
  const name = await database.first(findFact, { key: PROTOCOL_NAME });
  if (name === undefined || equalDigests(name.value, Buffer.from(protocolName))) return undefined;
  return `protocol_name is "${protocolName}", but this database was created with another name, which is part of its stored scopes. Restore the previous protocol_name.`;
}

/** Returns the check values that belong to none of the ring's root keys. */
export function unknownKeyChecks(stored: readonly Buffer[], keyRing: KeyRing): readonly Buffer[] {
  const checks = rootKeyChecks(keyRing);
  return stored.filter((check) => !checks.some((one) => equalDigests(one, check)));
}

/**
 * Adds a root key. From now on, a start without it is rejected.
 * @param check from `rootKeyChecks`
 */
export async function noteRootKey(database: Queryable, check: Buffer): Promise<void> {
  await database.execute(addKeyCheck, { key: KEY_CHECK, value: check });
}

/** Returns the concatenated check values of all root keys that stored values may depend on. */
export async function findKeyChecks(database: Queryable): Promise<Buffer> {
  return (await database.first(findFact, { key: KEY_CHECK }))?.value ?? Buffer.alloc(0);
}

/** Returns whether all values are encrypted under the current root key. */
export async function isCurrentRootEnough(database: Queryable, keyRing: KeyRing): Promise<boolean> {
  const [current] = rootKeyChecks(keyRing);
  return current?.equals(await findKeyChecks(database)) === true;
}

/**
 * Records that former root keys are no longer in use.
 * @param expected what `findKeyChecks` returned before the values were examined
 * @returns false if another root key was added since
 */
export async function forgetFormerKeys(database: Queryable, keyRing: KeyRing, expected: Buffer): Promise<boolean> {
  const [value = Buffer.alloc(0)] = rootKeyChecks(keyRing);
  return (await database.execute(replaceKeyChecks, { key: KEY_CHECK, expected, value })) === 1;
}

/** Returns values that distinguish root keys without revealing them, with the current one first. */
export function rootKeyChecks(keyRing: KeyRing): readonly Buffer[] {
  return keyRing.deriveAll('key-check').map((key) => createHmac('sha256', key).update('latchkey').digest());
}

/** Splits the stored value into one check value per root key. */
export function keyChecksOf(value: Buffer = Buffer.alloc(0)): readonly Buffer[] {
  const count = Math.ceil(value.length / CHECK_BYTES);
  return Array.from({ length: count }, (_, index) => value.subarray(index * CHECK_BYTES, (index + 1) * CHECK_BYTES));
}
