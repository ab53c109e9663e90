import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { Secret } from '#platform/base/secret.ts';
import type { Transaction } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import { type ClientRefusal, openSecret, sealFormerSecret, sealSecret } from '../client.ts';
import { propertiesOf } from '../client-properties.ts';
import { generatedSecret } from './generated-secret.ts';
import { lockClient } from './locked-client.ts';

/** Grace periods of the former secret. */
export const DEFAULT_GRACE_SECONDS = 86_400;
export const MAX_GRACE_SECONDS = 604_800;

export interface RotateSecretDeps {
  readonly keyRing: KeyRing;
  readonly clock: Clock;
}

export type SecretRotation =
  | { readonly ok: true; readonly secret: Secret }
  /** `no-secret`: the client authenticates without one. `dynamic`: it manages its own registration. */
  | { readonly ok: false; readonly reason: ClientRefusal | 'dynamic' | 'no-secret' };

/**
 * Generates a new secret for a managed client. The current one works until the grace period ends. If a former secret
 * is still in its grace period, it ends now.
 */
export async function rotateSecret(
  transaction: Transaction,
  { keyRing, clock }: RotateSecretDeps,
  id: ClientId,
  graceSeconds: number,
): Promise<SecretRotation> {
  const locked = await lockClient(transaction, id);
  if (typeof locked === 'string') return { ok: false, reason: locked };
  const { kind, row } = locked;
  if (kind === 'dynamic') return { ok: false, reason: 'dynamic' };
  const secret = generatedSecret(propertiesOf(row.metadata));
  if (secret === undefined || row.client_secret_sealed === null) return { ok: false, reason: 'no-secret' };
  const uuid = toUuid(id);
  const now = clock.now();
  const former = openSecret(uuid, row.client_secret_sealed, keyRing).reveal();
  await transaction.execute(storeRotation, {
    id: uuid,
    secretSealed: sealSecret(uuid, secret.reveal(), keyRing),
    formerSealed: graceSeconds === 0 ? null : sealFormerSecret(uuid, former, keyRing),
    formerExpiresAt: graceSeconds === 0 ? null : new Date(now + graceSeconds * 1000),
    now: new Date(now),
  });
  return { ok: true, secret };
}

const storeRotation = statement<
  never,
  {
    readonly id: string;
    readonly secretSealed: Buffer;
    readonly formerSealed: Buffer | null;
    readonly formerExpiresAt: Date | null;
    readonly now: Date;
  }
>(
  'rotate-client-secret',
  `update oauth2_clients
      set version = version + 1,
          client_secret_sealed = :secretSealed::bytea,
          secret_created_at = :now::timestamptz,
          secret_last_used_at = null,
          former_secret_sealed = :formerSealed::bytea,
          former_secret_created_at = case when :formerSealed::bytea is not null then secret_created_at end,
          former_secret_last_used_at = case when :formerSealed::bytea is not null then secret_last_used_at end,
          former_secret_expires_at = :formerExpiresAt::timestamptz,
          updated_at = :now::timestamptz
    where id = :id::uuid`,
);
