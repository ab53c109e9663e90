/**
 * Passkeys of accounts, table `user_passkeys`, and the challenges for their authenticators, `webauthn_challenges`. A
 * passkey counts as two factors: a device that the user has, and which has verified the user.
 *
 * `protocol/webauthn` validates responses, and browser sessions open the sessions.
 */
import { fromUuid } from '#platform/base/ids.ts';
import { ms } from '#platform/postgres/statement.ts';
import type { PasskeyId, UserId } from '#vocabulary/ids.ts';

/** A passkey as shown to its owner. Times in milliseconds since the epoch. */
export interface Passkey {
  readonly id: PasskeyId;
  readonly userId: UserId;
  readonly name: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | undefined;
  readonly transports: readonly string[];
  readonly isBackedUp: boolean;
  readonly aaguid: string | undefined;
}

export interface PasskeyRow {
  readonly id: string;
  readonly user_id: string;
  readonly name: string;
  readonly created_at: number;
  readonly last_used_at: number | null;
  readonly transports: readonly string[];
  readonly backed_up: boolean;
  readonly aaguid: string | null;
}

/** Columns of `user_passkeys` as `k`. */
export const PASSKEY_COLUMNS = {
  id: 'k.id',
  user_id: 'k.user_id',
  name: 'k.name',
  created_at: ms('k.created_at'),
  last_used_at: ms('k.last_used_at'),
  transports: 'k.transports',
  backed_up: 'k.backed_up',
  aaguid: 'k.aaguid',
};

/** Limit per account. */
export const MAX_PASSKEYS = 20;

export const MAX_NAME_CHARACTERS = 100;

export function toPasskey(row: PasskeyRow): Passkey {
  return {
    id: fromUuid(row.id),
    userId: fromUuid(row.user_id),
    name: row.name,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at ?? undefined,
    transports: row.transports,
    isBackedUp: row.backed_up,
    aaguid: row.aaguid ?? undefined,
  };
}

/** Returns the trimmed name; undefined if it is empty, too long or contains control characters. */
export function parsePasskeyName(text: string): string | undefined {
  const name = text.trim();
  if (name === '' || [...name].length > MAX_NAME_CHARACTERS || /\p{Cc}/u.test(name)) return undefined;
  return name;
}
