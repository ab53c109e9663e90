import { beforeEach, expect, test } from 'vitest';
import { openRegistrationToken } from '#domain/accounts/registrations/issue-registration-token.ts';
import { sealUserCode } from '#domain/authorizations/device-code-grant.ts';
import { sealSecret } from '#domain/clients/client.ts';
import { newTotpSecret, sealTotpSecret } from '#domain/records/totp-secret.ts';
import { sealAuthorizationSecrets, sealResponse } from '#domain/upstream/sealed-columns.ts';
import { fromUuid, newId, toUuid } from '#platform/base/ids.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import { RegisteredProcess } from '#platform/jobs/registered-processes.ts';
import { runDue, useJobTable } from '#platform/jobs/worker.test-support.ts';
import { randomRoot, sql } from '#test/support/fixtures.ts';
import { queueReencryption, reencryptFieldsQueue } from './reencrypt-fields.ts';
import { SEALED_FIELDS } from './sealed-fields.ts';
import { openSecretKeys } from './secret-keys.ts';
import { findKeyChecks, rootKeyChecks, verifyServerState } from './server-state.ts';

const table = useJobTable();
const TOKENS = 1_100;
let [former, next] = [randomRoot(), randomRoot()];
/** Key rings of instances before and after; `alone` has the new key only. */
let before: KeyRing;
let after: KeyRing;
let alone: KeyRing;

beforeEach(async () => {
  [former, next] = [randomRoot(), randomRoot()];
  before = new KeyRing(former, [next]);
  after = new KeyRing(next, [former]);
  alone = new KeyRing(next);
  await sql(table.database, 'truncate server_state, secret_keys, queue_workers, user_registration_tokens cascade');
  await verifyServerState(table.database, before, 'chat');
  await openSecretKeys({ ...table, database: table.database, keyRing: before });
  const ids = Array.from({ length: TOKENS }, () => newId<'registration-token'>(table.clock.now()));
  const values = ids.map((id) => {
    const sealed = before.seal('column', `token of ${id}`, `user_registration_tokens|token_sealed|${id}`);
    return `('${toUuid(id)}', '\\x${Buffer.from(id).toString('hex')}', '\\x${sealed.toString('hex')}', now())`;
  });
  await sql(
    table.database,
    `insert into user_registration_tokens (id, token_hmac, token_sealed, created_at) values ${values.join(',')}`,
  );
});

async function rotate(): Promise<void> {
  await verifyServerState(table.database, after, 'chat');
  await queueReencryption({ database: table.database, clock: table.clock });
}

const worker = (keyRing = after) =>
  table.worker([reencryptFieldsQueue({ database: table.database, keyRing, clock: table.clock, log: table.log })]);
const tokens = () =>
  sql<{ id: string; sealed: Buffer }>(
    table.database,
    'select id, token_sealed as sealed from user_registration_tokens order by id',
  );

/** Returns how many tokens the new key opens on its own. */
async function opened(): Promise<number> {
  const rows = await tokens();
  return rows.filter(({ id, sealed }) => {
    const name = `user_registration_tokens|token_sealed|${fromUuid(id)}`;
    return alone.open('column', sealed, name)?.toString() === `token of ${fromUuid(id)}`;
  }).length;
}

test('reseals every sealed column of the schema: a new one must be added to the list (operations 3.12)', async () => {
  const columns = await sql<{ name: string }>(
    table.database,
    `select table_name || '.' || column_name as name from information_schema.columns
      where table_schema = current_schema() and column_name like '%\\_sealed'`,
  );
  expect(columns.map(({ name }) => name).sort()).toEqual(SEALED_FIELDS.map(({ name }) => name).sort());
});

test('each value stays bound to its row and column as the module that owns it requires', () => {
  const id = newId(table.clock.now());
  const secrets = {
    nonce: 'n',
    verifier: 'v',
    isReauthentication: false,
    registrationToken: undefined,
    invitationProof: undefined,
  };
  const response = { idTokenClaims: {}, userinfoClaims: {}, extraCallbackParameters: {} };
  const sealed: Readonly<Record<string, Buffer>> = {
    'oauth2_clients.client_secret_sealed': sealSecret(toUuid(id), 'secret', before),
    'oauth2_device_code_grants.user_code_sealed': sealUserCode('ABCD', fromUuid(toUuid(id)), before),
    'upstream_authorizations.secrets_sealed': sealAuthorizationSecrets(before, fromUuid(toUuid(id)), secrets),
    'upstream_authorizations.answer_sealed': sealResponse(before, fromUuid(toUuid(id)), response),
    'user_totp_secrets.secret_sealed': sealTotpSecret(before, 'user_totp_secrets', id, newTotpSecret()),
    'user_totp_enrolments.secret_sealed': sealTotpSecret(before, 'user_totp_enrolments', id, newTotpSecret()),
  };
  for (const [name, value] of Object.entries(sealed)) {
    const field = SEALED_FIELDS.find((one) => one.name === name);
    const again = after.reseal('column', value, field?.associatedData(toUuid(id)) ?? '');
    expect(again, name).toBeInstanceOf(Buffer);
    expect(after.reseal('column', value, `${name}|another row`), name).toBe('unreadable');
  }
});

test('afterwards the new key alone opens everything, and a start without the former one is accepted', async () => {
  const keys = await openSecretKeys({ database: table.database, keyRing: before, clock: table.clock });
  await rotate();
  await expect(verifyServerState(table.database, alone, 'chat')).rejects.toMatchObject({ exitCode: 78 });
  expect(await runDue(worker())).toBe(1);
  expect(await table.rows()).toEqual([]);
  expect(await opened()).toBe(TOKENS);
  const [row] = await tokens();
  expect(openRegistrationToken(alone, fromUuid(row?.id ?? ''), row?.sealed ?? Buffer.alloc(0))).toMatch(/^token of/);
  await verifyServerState(table.database, alone, 'chat');
  expect(await openSecretKeys({ database: table.database, keyRing: alone, clock: table.clock })).toEqual(keys);
  // An instance that only has the former key is rejected.
  await expect(verifyServerState(table.database, new KeyRing(former), 'chat')).rejects.toMatchObject({ exitCode: 78 });
});

test('a run interrupted anywhere loses nothing and the next continues; another run changes no value', async () => {
  await rotate();
  await queueReencryption({ database: table.database, clock: table.clock });
  expect(await table.rows()).toHaveLength(1);
  await sql(
    table.database,
    `create function refuse() returns trigger language plpgsql as
    $$ begin if new.id = (select id from user_registration_tokens order by id offset 700 limit 1) then
       raise 'cut off'; end if; return new; end $$`,
  );
  await sql(
    table.database,
    `create trigger refuse before update on user_registration_tokens
    for each row execute function refuse()`,
  );
  await runDue(worker());
  await sql(table.database, 'drop trigger refuse on user_registration_tokens');
  expect(await opened()).toBe(500);
  const stored = await tokens();
  for (const { id, sealed } of stored) expect(openRegistrationToken(after, fromUuid(id), sealed)).toMatch(/^token of/);
  expect(await table.rows()).toMatchObject([{ failed: false, attempt: 1 }]);
  table.clock.advanceSeconds(10);
  await runDue(worker());
  expect(await opened()).toBe(TOKENS);
  const sealedOnce = await tokens();
  await queueReencryption({ database: table.database, clock: table.clock });
  await runDue(worker());
  expect(await tokens()).toEqual(sealedOnce);
});

test('nothing is resealed while a process seals with the former key, which would leave values behind', async () => {
  const options = { database: table.database, clock: table.clock, log: table.log, version: '1', works: true };
  let ring = before;
  const other = new RegisteredProcess({
    ...{ ...options, name: 'a:1', configDigest: Buffer.alloc(32) },
    rootKeys: () => rootKeyChecks(ring),
    untrustedProxies: () => [],
  });
  await other.beat();
  await rotate();
  await runDue(worker());
  expect(await opened()).toBe(0);
  expect(await table.rows()).toMatchObject([{ seconds: 10, attempt: 0 }]);
  ring = after;
  await other.beat();
  table.clock.advanceSeconds(10);
  await runDue(worker());
  expect(await opened()).toBe(TOKENS);
});

test('a value that no key opens stays and is reported, and the former key is kept while another root is noted', async () => {
  const [row] = await tokens();
  await sql(table.database, `update user_registration_tokens set token_sealed = '\\x00' where id = '${row?.id}'`);
  await rotate();
  await runDue(worker());
  expect(await opened()).toBe(TOKENS - 1);
  expect(table.log.lines.filter(({ event }) => event === 'keys.unreadable')).toHaveLength(1);
  expect(await findKeyChecks(table.database)).toEqual(rootKeyChecks(alone)[0]);
});
