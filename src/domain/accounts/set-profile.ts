import { type AuditActor, recordAuditEvent } from '#domain/audit/audit-event.ts';
import type { RecordAction } from '#domain/audit/record-admin-action.ts';
import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { parseTimeZone } from '#protocol/oidc/time-zone.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { parseDisplayName } from './account-names.ts';

/** New values; null removes a value, and undefined leaves it as it is. */
export interface ProfileValues {
  readonly givenName?: string | null | undefined;
  readonly familyName?: string | null | undefined;
  /** Name in the IANA time zone database. */
  readonly timeZone?: string | null | undefined;
  /** An installed language. Null: the language in which the user last viewed pages. */
  readonly language?: string | null | undefined;
}

export interface ProfileChange {
  readonly user: UserId;
  readonly values: ProfileValues;
  readonly by: AuditActor;
  /** Undefined if users change their own profile. */
  readonly record?: RecordAction | undefined;
}

type ProfileOutcome = 'set' | 'invalid-given-name' | 'invalid-family-name' | 'invalid-time-zone';

/** Sets what users enter about themselves: names, time zone and language. All of it is stored, or nothing. */
export async function setProfile(
  { clock, database }: { readonly clock: Clock; readonly database: Database },
  { user, values, by, record }: ProfileChange,
): Promise<ProfileOutcome> {
  const { language } = values;
  const givenName = parsed(values.givenName, parseDisplayName);
  if (givenName === INVALID) return 'invalid-given-name';
  const familyName = parsed(values.familyName, parseDisplayName);
  if (familyName === INVALID) return 'invalid-family-name';
  const timeZone = parsed(values.timeZone, parseTimeZone);
  if (timeZone === INVALID) return 'invalid-time-zone';
  const wanted = { given_name: givenName, family_name: familyName, time_zone: timeZone, locale: language };
  const changed = Object.entries(wanted).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const now = clock.now();
  await database.transaction(
    async (transaction) => {
      const updated = await transaction.execute(storeProfile, {
        userId: toUuid(user),
        changed,
        givenName: givenName ?? null,
        familyName: familyName ?? null,
        timeZone: timeZone ?? null,
        language: language ?? null,
        now: new Date(now),
      });
      if (updated > 0) {
        const detail = { ...by.detail, changed };
        await recordAuditEvent(transaction, { kind: 'profile_changed', at: now, userId: user, ...by, detail });
      }
      await record?.(transaction);
    },
    { isRepeatable: true },
  );
  return 'set';
}

const INVALID = Symbol('invalid');

function parsed(
  value: string | null | undefined,
  parse: (text: string) => string | undefined,
): string | null | undefined | typeof INVALID {
  return typeof value === 'string' ? (parse(value) ?? INVALID) : value;
}

const chosen = (column: string, value: string) =>
  `case when '${column}' = any(:changed::text[]) then ${value} else u.${column} end`;
const GIVEN_NAME = chosen('given_name', ':givenName::text');
const FAMILY_NAME = chosen('family_name', ':familyName::text');
const TIME_ZONE = chosen('time_zone', ':timeZone::text');
/** A removed choice keeps the language until the user views a page. */
const LOCALE = chosen('locale', 'coalesce(:language::text, u.locale)');
const LOCALE_IS_CHOSEN = `case when 'locale' = any(:changed::text[]) then :language::text is not null
  else u.locale_is_chosen end`;

const storeProfile = statement<
  never,
  {
    readonly userId: string;
    /** The columns to set. */
    readonly changed: readonly string[];
    readonly givenName: string | null;
    readonly familyName: string | null;
    readonly timeZone: string | null;
    readonly language: string | null;
    readonly now: Date;
  }
>(
  'store-profile',
  `update users u set given_name = ${GIVEN_NAME}, family_name = ${FAMILY_NAME}, time_zone = ${TIME_ZONE},
          locale = ${LOCALE}, locale_is_chosen = ${LOCALE_IS_CHOSEN}, updated_at = :now::timestamptz
    where u.id = :userId::uuid
      and (u.given_name, u.family_name, u.time_zone, u.locale, u.locale_is_chosen)
        is distinct from (${GIVEN_NAME}, ${FAMILY_NAME}, ${TIME_ZONE}, ${LOCALE}, ${LOCALE_IS_CHOSEN})`,
);
