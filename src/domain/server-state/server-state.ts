/**
 * Facts fixed at the first start of a database, table `server_state`: a check value of the encryption key and the
 * protocol name. Stored rows depend on both, so a start with others must fail before any listener opens.
 */
import { createHmac } from 'node:crypto';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { equalDigests } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { type NoParameters, statement } from '#platform/postgres/statement.ts';

const KEY_CHECK = 'encryption-key-check';
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
  const isSameKey = await isStoredValue(
    database,
    KEY_CHECK,
    createHmac('sha256', keyRing.derive('key-check')).update('latchkey').digest(),
  );
  if (!isSameKey) {
    throw new ExitError(
      ExitCode.config,
      'secrets.encryption is not the key that this database was made with. ' +
        'Restore the former key (data_dir/encryption.key, or secrets.encryption), or point database.uri at the right database.',
    );
  }
  if (!(await isStoredValue(database, PROTOCOL_NAME, Buffer.from(protocolName)))) {
    throw new ExitError(
      ExitCode.config,
      `protocol_name is "${protocolName}", but this database was made with another one, which its stored scopes carry. Set protocol_name back.`,
    );
  }
}

/** Stores the value if there is none yet. @returns whether the stored one is this */
async function isStoredValue(database: Queryable, key: string, value: Buffer): Promise<boolean> {
  await database.execute(insertFact, { key, value });
  const stored = await database.first(findFact, { key });
  return stored !== undefined && equalDigests(stored.value, value);
}
