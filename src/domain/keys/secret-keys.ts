/**
 * Keys whose results must stay the same for the lifetime of the database, even if `secrets.encryption` is replaced.
 * Each is generated once, at the first start that knows its purpose, and stored encrypted in the table `secret_keys`.
 * Everything else derives its key from the root key (`KeyRing.derive`).
 */
import type { Clock } from '#platform/base/clock.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { randomBytes } from '#platform/base/random.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';

/** 32 bytes each, read at startup; they never change. */
export interface SecretKeys {
  readonly pairwiseSubjects: Buffer;
  readonly registrationTokens: Buffer;
  readonly recoveryCodes: Buffer;
}

export interface SecretKeyDeps {
  readonly database: Queryable;
  readonly keyRing: KeyRing;
  readonly clock: Clock;
}

const KEY_BYTES = 32;

const findSecretKey = statement<{ keySealed: Buffer }, { readonly purpose: string }>(
  'secret-key-by-purpose',
  'select key_sealed as "keySealed" from secret_keys where purpose = :purpose::text',
);

/** Keeps an existing key: if two instances start concurrently, the first one wins. */
const insertSecretKey = statement<
  never,
  { readonly purpose: string; readonly keySealed: Buffer; readonly createdAt: Date }
>(
  'insert-secret-key',
  `insert into secret_keys (purpose, key_sealed, created_at)
   values (:purpose::text, :keySealed::bytea, :createdAt::timestamptz)
   on conflict (purpose) do nothing`,
);

/**
 * Reads the key of each purpose and generates missing ones.
 * @throws ExitError 78 if a key is encrypted under a root key that is not configured
 */
export async function openSecretKeys(deps: SecretKeyDeps): Promise<SecretKeys> {
  return {
    pairwiseSubjects: await openSecretKey(deps, 'pairwise-subjects'),
    registrationTokens: await openSecretKey(deps, 'registration-tokens'),
    recoveryCodes: await openSecretKey(deps, 'recovery-codes'),
  };
}

async function openSecretKey(deps: SecretKeyDeps, purpose: string): Promise<Buffer> {
  const sealed = (await findSealed(deps, purpose)) ?? (await drawSecretKey(deps, purpose));
  const key = deps.keyRing.open('column', sealed, associatedData(purpose));
  if (key !== undefined) return key;
  throw new ExitError(
    ExitCode.config,
    `the key for ${purpose} in the table secret_keys was encrypted with another value of secrets.encryption; ` +
      'add that value to secrets.encryption_previous',
  );
}

async function drawSecretKey(deps: SecretKeyDeps, purpose: string): Promise<Buffer> {
  const keySealed = deps.keyRing.seal('column', randomBytes(KEY_BYTES), associatedData(purpose));
  await deps.database.execute(insertSecretKey, { purpose, keySealed, createdAt: new Date(deps.clock.now()) });
  const stored = await findSealed(deps, purpose);
  if (stored === undefined) throw new Error(`the key for ${purpose} was not stored`);
  return stored;
}

async function findSealed({ database }: SecretKeyDeps, purpose: string): Promise<Buffer | undefined> {
  return (await database.first(findSecretKey, { purpose }))?.keySealed;
}

function associatedData(purpose: string): string {
  return `secret_keys|key_sealed|${purpose}`;
}
