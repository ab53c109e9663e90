/**
 * Passkeys of accounts, table `user_passkeys`, and what their authenticators are asked to sign, `webauthn_challenges`.
 * A passkey stands for two factors: something that a person has, which has checked that it is them.
 *
 * What a right answer looks like is decided in `protocol/webauthn`; sessions are opened by browser sessions.
 */
import { fromUuid, type PasskeyId, type UserId } from '#platform/base/ids.ts';
import { ms } from '#platform/postgres/statement.ts';

/** As its owner sees it. Times in milliseconds since the epoch. */
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

/** Of `user_passkeys` as `k`. */
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

/** Of one account. */
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

/** A name without surrounding white space; undefined when it is empty, too long or has control characters. */
export function parsePasskeyName(text: string): string | undefined {
  const name = text.trim();
  if (name === '' || [...name].length > MAX_NAME_CHARACTERS || /\p{Cc}/u.test(name)) return undefined;
  return name;
}
