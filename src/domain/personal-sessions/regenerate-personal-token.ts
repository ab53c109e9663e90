import { accountIsDeactivated } from '#domain/records/liveness/accounts.ts';
import {
  ownerIsUsable,
  personalSessionIsLive,
  personalTokenIsCurrent,
} from '#domain/records/liveness/personal-sessions.ts';
import type { Clock } from '#platform/base/clock.ts';
import { fromUuid, newId, toUuid } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Database, Transaction } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { newToken } from '#protocol/oauth/token-format.ts';
import type { PersonalSessionId, UserId } from '#vocabulary/ids.ts';
import type { PersonalOwner } from './issue-personal-token.ts';

export type RegenerationOutcome =
  /** `actor`: the user that the token acts as. */
  | { readonly ok: true; readonly accessToken: string; readonly actor: UserId }
  /** `foreign`: the session has another owner. `over`: it was revoked, or its account or owner is not usable. */
  | { readonly ok: false; readonly reason: 'foreign' | 'gone' | 'over' };

/**
 * Replaces the token of a session. The previous one stops working when that commits; it may also have expired before.
 * The session is locked: of two concurrent calls, the later one sees and revokes the token of the other.
 */
export async function regeneratePersonalToken(
  { clock, database }: { readonly clock: Clock; readonly database: Database },
  id: PersonalSessionId,
  { owner, lifetimeSeconds }: { readonly owner: PersonalOwner; readonly lifetimeSeconds: number | undefined },
): Promise<RegenerationOutcome> {
  const regenerate = async (transaction: Transaction): Promise<RegenerationOutcome> => {
    const sessionId = toUuid(id);
    const held = await transaction.first(hold, { sessionId });
    if (held === undefined) return { ok: false, reason: 'gone' };
    const owning = owner.kind === 'user' ? held.owner_user_id : held.owner_client_id;
    if (owning !== toUuid(owner.id)) return { ok: false, reason: 'foreign' };
    if (!held.is_live) return { ok: false, reason: 'over' };
    const now = clock.now();
    const accessToken = newToken('mpt');
    await transaction.execute(replace, {
      sessionId,
      tokenId: toUuid(newId(now)),
      tokenHash: sha256(accessToken),
      now: new Date(now),
      expiresAt: lifetimeSeconds === undefined ? null : new Date(now + lifetimeSeconds * 1000),
    });
    return { ok: true, accessToken, actor: fromUuid(held.actor_user_id) };
  };
  return await database.transaction(regenerate, { isRepeatable: true });
}

interface HeldRow {
  readonly actor_user_id: string;
  readonly owner_user_id: string | null;
  readonly owner_client_id: string | null;
  readonly is_live: boolean;
}

const hold = statement<HeldRow, { readonly sessionId: string }>(
  'hold-personal-session',
  `select s.actor_user_id, s.owner_user_id, s.owner_client_id,
          ${personalSessionIsLive('s')} and not (${accountIsDeactivated('u')}) and ${ownerIsUsable('s', 'o', 'c')} as is_live
     from personal_sessions s
     join users u on u.id = s.actor_user_id
     left join users o on o.id = s.owner_user_id
     left join oauth2_clients c on c.id = s.owner_client_id
    where s.id = :sessionId::uuid
      for update of s`,
);

const replace = statement<
  never,
  {
    readonly sessionId: string;
    readonly tokenId: string;
    readonly tokenHash: Buffer;
    readonly now: Date;
    readonly expiresAt: Date | null;
  }
>(
  'replace-personal-token',
  `with replaced as (
    update personal_access_tokens t
       set revoked_at = :now::timestamptz
     where t.session_id = :sessionId::uuid and ${personalTokenIsCurrent('t')}
    returning t.id
  ), renewed as (
    update personal_sessions set expires_at = :expiresAt::timestamptz where id = :sessionId::uuid
  )
  insert into personal_access_tokens (id, session_id, token_hash, created_at, expires_at)
  select :tokenId::uuid, :sessionId::uuid, :tokenHash::bytea, :now::timestamptz, :expiresAt::timestamptz
   -- the count makes the former token end before the unique index is asked
   where (select count(*) from replaced) >= 0`,
);
