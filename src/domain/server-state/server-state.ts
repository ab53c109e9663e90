/**
 * Facts fixed at the first start of a database, table `server_state`: a check value of each root key and the protocol
 * name. Stored rows depend on both, so a start with others must fail before any listener opens.
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

/** Has one row with `value`, for `keyChecksOf`, once the service was started on this database. */
export const KEY_CHECK_QUERY = `select value from server_state where key = '${KEY_CHECK}'`;

const findFact = statement<{ value: Buffer }, { readonly key: string }>(
  'server-fact-by-key',
  'select value from server_state where key = :key',
);

/** Keeps the value that is there: the first start decides. */
const insertFact = statement<never, { readonly key: string; readonly value: Buffer }>(
  'insert-server-fact',
  'insert into server_state (key, value) values (:key, :value) on conflict (key) do nothing',
);

/** Notes a further root, with the row locked, so that one of several instances that start at once adds it. */
const addKeyCheck = statement<never, { readonly key: string; readonly value: Buffer }>(
  'add-key-check',
  `update server_state set value = value || :value::bytea
   where key = :key::text and position(:value::bytea in value) = 0`,
);

/** Only if nobody has noted another root in the meantime. */
const replaceKeyChecks = statement<never, { readonly key: string; readonly expected: Buffer; readonly value: Buffer }>(
  'replace-key-checks',
  'update server_state set value = :value::bytea where key = :key::text and value = :expected::bytea',
);

/** Whether this database was started with an encryption key before; false when it has not been migrated. */
export async function hasKeyCheck(database: Queryable): Promise<boolean> {
  const table = await database.first(tableExists, {});
  return table?.exists === true && (await database.first(findFact, { key: KEY_CHECK })) !== undefined;
}

/**
 * Stores the facts at the first start and compares them at every later one.
 * @throws ExitError 78 when the encryption key or the protocol name is not the one that this database was made with
 */
export async function verifyServerState(database: Queryable, keyRing: KeyRing, protocolName: string): Promise<void> {
  const [current = Buffer.alloc(0)] = rootKeyChecks(keyRing);
  await database.execute(insertFact, { key: KEY_CHECK, value: current });
  await requireFit(database, keyRing, protocolName);
  await database.execute(insertFact, { key: PROTOCOL_NAME, value: Buffer.from(protocolName) });
  // Another first start may have been faster, with another name.
  await requireFit(database, keyRing, protocolName);
  await noteRootKey(database, current);
}

async function requireFit(database: Queryable, keyRing: KeyRing, protocolName: string): Promise<void> {
  const problem = await findStateProblem(database, keyRing, protocolName);
  if (problem !== undefined) throw new ExitError(ExitCode.config, problem);
}

/**
 * Why this database must not be used with these keys and this protocol name, and what to do; undefined when it may.
 * Changes nothing. Every root that rows may be sealed under has to be there: so a start without a former one is refused
 * before something cannot be opened, and so is one of an instance that does not know the new one.
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
      ? 'secrets.encryption is not the key that this database was made with. ' +
          'Restore the former key (data_dir/encryption.key, or secrets.encryption), or point database.uri at the right database.'
      : 'this database was used with a root key that is not configured: what it sealed could not be opened. ' +
          'Add that key to secrets.encryption_previous, or set secrets.encryption as the other instances do.';
  }
  const name = await database.first(findFact, { key: PROTOCOL_NAME });
  if (name === undefined || equalDigests(name.value, Buffer.from(protocolName))) return undefined;
  return `protocol_name is "${protocolName}", but this database was made with another one, which its stored scopes carry. Set protocol_name back.`;
}

/** Of those check values, the ones of root keys that the ring does not have. */
export function unknownKeyChecks(stored: readonly Buffer[], keyRing: KeyRing): readonly Buffer[] {
  const checks = rootKeyChecks(keyRing);
  return stored.filter((check) => !checks.some((one) => equalDigests(one, check)));
}

/** From now on a start without this root is refused. @param check of `rootKeyChecks` */
export async function noteRootKey(database: Queryable, check: Buffer): Promise<void> {
  await database.execute(addKeyCheck, { key: KEY_CHECK, value: check });
}

/** The check values of all roots that stored values may be sealed under, one behind the other. */
export async function findKeyChecks(database: Queryable): Promise<Buffer> {
  return (await database.first(findFact, { key: KEY_CHECK }))?.value ?? Buffer.alloc(0);
}

/** Whether nothing is sealed under another root than the current one. */
export async function isCurrentRootEnough(database: Queryable, keyRing: KeyRing): Promise<boolean> {
  const [current] = rootKeyChecks(keyRing);
  return current?.equals(await findKeyChecks(database)) === true;
}

/**
 * Notes that nothing is sealed under former roots any more.
 * @param expected what `findKeyChecks` gave before the values were looked at
 * @returns false when another root was noted since
 */
export async function forgetFormerKeys(database: Queryable, keyRing: KeyRing, expected: Buffer): Promise<boolean> {
  const [value = Buffer.alloc(0)] = rootKeyChecks(keyRing);
  return (await database.execute(replaceKeyChecks, { key: KEY_CHECK, expected, value })) === 1;
}

/** Tells roots apart without showing them; the current one first. */
export function rootKeyChecks(keyRing: KeyRing): readonly Buffer[] {
  return keyRing.deriveAll('key-check').map((key) => createHmac('sha256', key).update('latchkey').digest());
}

/** One check value for each root, as they are stored one behind the other. */
export function keyChecksOf(value: Buffer = Buffer.alloc(0)): readonly Buffer[] {
  const count = Math.ceil(value.length / CHECK_BYTES);
  return Array.from({ length: count }, (_, index) => value.subarray(index * CHECK_BYTES, (index + 1) * CHECK_BYTES));
}
