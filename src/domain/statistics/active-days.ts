import { toUuid, type Ulid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { type Statement, statement } from '#platform/postgres/statement.ts';

/** A session that was used, and the first and last time since it was last written. Milliseconds since the epoch. */
export interface UsedSession {
  readonly id: Ulid;
  readonly since: number;
  readonly at: number;
}

interface DayParams {
  readonly ids: readonly string[];
  readonly days: readonly string[];
}

/** Sessions whose day is remembered. Beyond that, days are written again, which changes nothing. */
const MAX_REMEMBERED = 100_000;

/** Records on which days (UTC) accounts were active: those whose sessions of any kind were used. */
export class ActiveDays {
  #day = '';
  /** Sessions whose use on that day is stored. Most sessions are used in many minutes of a day. */
  readonly #stored = new Set<Ulid>();

  async write(queryable: Queryable, insert: Statement<never, DayParams>, sessions: readonly UsedSession[]) {
    const used = sessions.flatMap(({ id, since, at }) =>
      [...new Set([dayOf(since), dayOf(at)])].map((day) => ({ id, day })),
    );
    const news = used.filter(({ id, day }) => day !== this.#day || !this.#stored.has(id));
    if (news.length === 0) return;
    await queryable.execute(insert, { ids: news.map(({ id }) => toUuid(id)), days: news.map(({ day }) => day) });
    for (const { id, day } of news) this.#remember(id, day);
  }

  #remember(id: Ulid, day: string): void {
    if (day > this.#day) {
      this.#day = day;
      this.#stored.clear();
    }
    if (day === this.#day && this.#stored.size < MAX_REMEMBERED) this.#stored.add(id);
  }
}

/** Returns the day in UTC, as SQL spells it. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/**
 * Inserts in the order of the primary key, so that batches of several instances cannot deadlock.
 * @param user column of the account in `table`
 */
function activeDaysStatement(table: string, user: string): Statement<never, DayParams> {
  return statement(
    `record-active-days-of-${table.replaceAll('_', '-')}`,
    `insert into user_active_days (day, user_id)
     select distinct used.day, s.${user}
       from unnest(:ids::uuid[], :days::date[]) as used (id, day)
       join ${table} s on s.id = used.id
      where s.${user} is not null
      order by 1, 2
     on conflict (day, user_id) do nothing`,
  );
}

export const activeDaysOf = {
  browserSessions: activeDaysStatement('user_sessions', 'user_id'),
  oauth2Sessions: activeDaysStatement('oauth2_sessions', 'user_id'),
  compatSessions: activeDaysStatement('compat_sessions', 'user_id'),
  personalSessions: activeDaysStatement('personal_sessions', 'actor_user_id'),
};
