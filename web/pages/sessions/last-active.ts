import type { AreaTranslations } from '../../i18n/translations.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const NOW_MS = 3 * MINUTE_MS;
const INACTIVE_DAYS = 90;

/** Describes when a session was last used (account-graphql 8.6). */
export function lastActiveText({ language, t }: AreaTranslations, lastActiveAt: Date, now: Date): string {
  const age = now.getTime() - lastActiveAt.getTime();
  if (age <= NOW_MS) return t('account.session.active_now');
  if (age > INACTIVE_DAYS * DAY_MS) return t('account.session.inactive', { days: INACTIVE_DAYS });
  return t('account.session.active', { when: relative(language, age) });
}

function relative(language: string, age: number): string {
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  if (age < HOUR_MS) return format.format(-Math.floor(age / MINUTE_MS), 'minute');
  if (age < DAY_MS) return format.format(-Math.floor(age / HOUR_MS), 'hour');
  return format.format(-Math.floor(age / DAY_MS), 'day');
}

/** Returns the time before which sessions count as inactive: the start of a day in the past. */
export function inactiveBefore(now: Date): string {
  const day = new Date(now.getTime() - INACTIVE_DAYS * DAY_MS);
  day.setHours(0, 0, 0, 0);
  return day.toISOString();
}
