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

const findFact = statement<{ value: Buffer }, { readonly key: string }>(
  'server-fact-by-key',
  'select value from server_state where key = :key',
);

/** Keeps the value that is there: the first start decides. */
const insertFact = statement<never, { readonly key: string; readonly value: Buffer }>(
  'insert-server-fact',
  'insert into server_state (key, value) values (:key, :value) on conflict (key) do nothing',
);

/** Notes a further root; the row is locked meanwhile, so that of several instances that start at once one adds it. */
const addKeyCheck = statement<never, { readonly key: string; readonly value: Buffer }>(
  'add-key-check',
  `update server_state set value = value || :value::bytea
   where key = :key::text and position(:value::bytea in value) = 0`,
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
  await verifyRoots(database, keyRing);
  if (!(await isStoredValue(database, PROTOCOL_NAME, Buffer.from(protocolName)))) {
    throw new ExitError(
      ExitCode.config,
      `protocol_name is "${protocolName}", but this database was made with another one, which its stored scopes carry. Set protocol_name back.`,
    );
  }
}

/**
 * Requires every root that rows of this database may be sealed under, and notes the current one. So a start without a
 * former root is refused before something cannot be opened, and so is one of an instance that does not know the new root.
 */
async function verifyRoots(database: Queryable, keyRing: KeyRing): Promise<void> {
  const checks = keyRing.deriveAll('key-check').map((key) => createHmac('sha256', key).update('latchkey').digest());
  const [current = Buffer.alloc(0)] = checks;
  await database.execute(insertFact, { key: KEY_CHECK, value: current });
  const stored = checksOf((await database.first(findFact, { key: KEY_CHECK }))?.value ?? Buffer.alloc(0));
  const unknown = stored.filter((check) => !checks.some((one) => equalDigests(one, check)));
  if (unknown.length > 0) {
    throw new ExitError(
      ExitCode.config,
      unknown.length === stored.length
        ? 'secrets.encryption is not the key that this database was made with. ' +
            'Restore the former key (data_dir/encryption.key, or secrets.encryption), or point database.uri at the right database.'
        : 'this database was used with a root key that is not configured: what it sealed could not be opened. ' +
            'Add that key to secrets.encryption_previous, or set secrets.encryption as the other instances do.',
    );
  }
  if (!stored.some((check) => equalDigests(check, current))) {
    await database.execute(addKeyCheck, { key: KEY_CHECK, value: current });
  }
}

/** One check value for each root, one behind the other. */
function checksOf(value: Buffer): readonly Buffer[] {
  const count = Math.ceil(value.length / CHECK_BYTES);
  return Array.from({ length: count }, (_, index) => value.subarray(index * CHECK_BYTES, (index + 1) * CHECK_BYTES));
}

/** Stores the value if there is none yet. @returns whether the stored one is this */
async function isStoredValue(database: Queryable, key: string, value: Buffer): Promise<boolean> {
  await database.execute(insertFact, { key, value });
  const stored = await database.first(findFact, { key });
  return stored !== undefined && equalDigests(stored.value, value);
}
