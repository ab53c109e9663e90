/**
 * Facts fixed at the first start of a database, table `server_state`: a check value of the encryption key and the
 * protocol name. Stored rows depend on both, so a start with others must fail before any listener opens.
 */
import { createHmac } from 'node:crypto';
import { ExitError } from '#platform/base/errors.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { equalDigests } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { findServerFact, serverStateExists } from './lookups.ts';
import { insertServerFact } from './writes.ts';

const KEY_CHECK = 'encryption-key-check';
const PROTOCOL_NAME = 'protocol-name';

/** Whether this database was started with an encryption key before; also true knowledge of an unmigrated one. */
export async function hasKeyCheck(database: Queryable): Promise<boolean> {
  const table = await database.first(serverStateExists, {});
  return table?.exists === true && (await database.first(findServerFact, { key: KEY_CHECK })) !== undefined;
}

/**
 * Stores the facts at the first start and compares them at every later one.
 * @throws ExitError 78 when the encryption key or the protocol name is not the one that this database was made with
 */
export async function verifyServerState(database: Queryable, keyRing: KeyRing, protocolName: string): Promise<void> {
  const isSameKey = await agree(
    database,
    KEY_CHECK,
    createHmac('sha256', keyRing.derive('key-check')).update('latchkey').digest(),
  );
  if (!isSameKey) {
    throw new ExitError(
      78,
      'secrets.encryption is not the key that this database was made with. ' +
        'Restore the former key (data_dir/encryption.key, or secrets.encryption), or point database.uri at the right database.',
    );
  }
  if (!(await agree(database, PROTOCOL_NAME, Buffer.from(protocolName)))) {
    throw new ExitError(
      78,
      `protocol_name is "${protocolName}", but this database was made with another one, which its stored scopes carry. Set protocol_name back.`,
    );
  }
}

async function agree(database: Queryable, key: string, value: Buffer): Promise<boolean> {
  await database.execute(insertServerFact, { key, value });
  const stored = await database.first(findServerFact, { key });
  return stored !== undefined && equalDigests(stored.value, value);
}
