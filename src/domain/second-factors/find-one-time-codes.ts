import { enrolmentIsExhausted, enrolmentIsExpired } from '#domain/records/liveness/one-time-codes.ts';
import { fromUuid, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import type { BrowserSessionId, TotpEnrolmentId, UserId } from '#vocabulary/ids.ts';

/** Properties of an authenticator app as shown to its user. Times in milliseconds since the epoch. */
export interface TotpFacts {
  readonly createdAt: number;
  readonly lastUsedAt: number | undefined;
}

/** A set of recovery codes. Only their number can be read. */
export interface RecoveryCodeFacts {
  readonly createdAt: number;
  readonly total: number;
  readonly remaining: number;
}

export interface OneTimeCodeFacts {
  readonly totp: TotpFacts | undefined;
  readonly recoveryCodes: RecoveryCodeFacts | undefined;
}

interface FactsRow {
  readonly user_id: string;
  readonly created_at: number | null;
  readonly last_used_at: number | null;
  readonly codes_created_at: number | null;
  readonly total: number;
  readonly remaining: number;
}

/** An account has ten codes or none. */
const ofUsers = statement<FactsRow, { readonly ids: readonly string[] }>(
  'one-time-codes-of-users',
  `select wanted.user_id, ${ms('t.created_at')} as created_at, ${ms('t.last_used_at')} as last_used_at,
          codes.created_at as codes_created_at, codes.total, codes.remaining
     from unnest(:ids::uuid[]) as wanted (user_id)
     left join user_totp_secrets t on t.user_id = wanted.user_id
    cross join lateral (
      select ${ms('min(c.created_at)')} as created_at, count(*)::integer as total,
             (count(*) filter (where c.used_at is null))::integer as remaining
        from user_recovery_codes c where c.user_id = wanted.user_id
    ) codes`,
);

/** Returns the facts for each of these accounts, in the same order. */
export async function findOneTimeCodes(
  queryable: Queryable,
  ids: readonly UserId[],
): Promise<readonly OneTimeCodeFacts[]> {
  const rows = await queryable.rows(ofUsers, { ids: ids.map(toUuid) });
  const found = new Map(rows.map((row) => [fromUuid(row.user_id), toFacts(row)]));
  return ids.map((id) => found.get(id) ?? { totp: undefined, recoveryCodes: undefined });
}

function toFacts(row: FactsRow): OneTimeCodeFacts {
  return {
    totp:
      row.created_at === null ? undefined : { createdAt: row.created_at, lastUsedAt: row.last_used_at ?? undefined },
    recoveryCodes:
      row.codes_created_at === null
        ? undefined
        : { createdAt: row.codes_created_at, total: row.total, remaining: row.remaining },
  };
}

/** An unfinished enrollment of an authenticator app. */
export interface TotpEnrolment {
  readonly id: TotpEnrolmentId;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

const enrolmentsByIds = statement<
  { id: string; created_at: number },
  { readonly ids: readonly string[]; readonly sessionId: string; readonly now: Date }
>(
  'find-totp-enrolments-of-session',
  `select e.id, ${ms('e.created_at')} as created_at from user_totp_enrolments e
    where e.id = any(:ids::uuid[]) and e.user_session_id = :sessionId::uuid
      and not (${enrolmentIsExpired('e', ':now::timestamptz')}) and not (${enrolmentIsExhausted('e')})`,
);

/**
 * Finds enrollments by their IDs, in the same order. Returns only those that this browser session started and can
 * continue.
 */
export async function findTotpEnrolments(
  queryable: Queryable,
  ids: readonly TotpEnrolmentId[],
  session: BrowserSessionId,
  now: number,
): Promise<readonly (TotpEnrolment | undefined)[]> {
  const rows = await queryable.rows(enrolmentsByIds, {
    ids: ids.map(toUuid),
    sessionId: toUuid(session),
    now: new Date(now),
  });
  const found = new Map(
    rows.map(({ id, created_at }): [TotpEnrolmentId, TotpEnrolment] => {
      const own: TotpEnrolmentId = fromUuid(id);
      return [own, { id: own, createdAt: created_at }];
    }),
  );
  return ids.map((id) => found.get(id));
}
