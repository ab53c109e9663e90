/** Filters records by time, activity, requester and address. */
import { isIP } from 'node:net';
import { type Cidr, Networks } from '#platform/base/ip-address.ts';
import { parseDuration } from '#platform/config/durations.ts';
import type { ActivityRecord } from './classify.ts';

export interface Selection {
  /** Start time, inclusive, in the format of the log. */
  readonly since?: string | undefined;
  /** End time, exclusive. */
  readonly until?: string | undefined;
  /** As in the log; a user also by ID or username alone. */
  readonly requester?: string | undefined;
  readonly clientAddress?: Cidr | undefined;
  /** Names of activities; `account` selects all operations. */
  readonly activities?: readonly string[] | undefined;
}

export function selector(selection: Selection): (record: ActivityRecord) => boolean {
  const { since = '', until, requester, clientAddress, activities } = selection;
  const names = activities === undefined ? undefined : new Set(activities);
  const networks = clientAddress === undefined ? undefined : new Networks([clientAddress]);
  return (record) =>
    record.time >= since &&
    (until === undefined || record.time < until) &&
    (names === undefined || names.has(record.activity) || names.has(record.activity.split(':', 1)[0] ?? '')) &&
    (requester === undefined || isRequester(record.requester, requester)) &&
    (networks === undefined || isWithin(record.clientAddress, networks));
}

const USER = /^user:([^(]+)(?:\((.*)\))?$/;

function isRequester(logged: string | undefined, wanted: string): boolean {
  if (logged === undefined) return false;
  if (logged === wanted) return true;
  // `homeserver` means the homeserver, even if a user has that name.
  if (wanted === 'homeserver') return false;
  const [, id, name] = USER.exec(logged) ?? [];
  if (id === undefined) return logged === `oauth2-client:${wanted}`;
  return wanted === id || wanted === `user:${id}` || wanted === name;
}

function isWithin(address: string | undefined, networks: Networks): boolean {
  return address !== undefined && isIP(address) !== 0 && networks.has(address);
}

const DATE_TIME = /^(\d{4}-\d\d-\d\d)(?:[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d))?$/;

/**
 * Parses a time into the format of the log.
 * @param text an RFC 3339 date and time, a date (midnight UTC), or an age such as `-2h`
 * @returns undefined for anything else
 */
export function parseTime(text: string, now: number): string | undefined {
  if (text.startsWith('-')) {
    const seconds = parseDuration(text.slice(1));
    return seconds === undefined ? undefined : logTime(now - seconds * 1000, '');
  }
  const [, date, time = '00:00:00', fraction = '', zone = 'Z'] = DATE_TIME.exec(text) ?? [];
  // `Date` accepts February 30 and returns a day in March.
  if (date === undefined || logTime(Date.parse(`${date}T00:00:00Z`), '')?.startsWith(date) !== true) return undefined;
  const milliseconds = Date.parse(`${date}T${time}${zone.toUpperCase()}`);
  return logTime(milliseconds, fraction);
}

/** @param fraction digits of a second beyond milliseconds */
function logTime(milliseconds: number, fraction: string): string | undefined {
  if (Number.isNaN(milliseconds) || Math.abs(milliseconds) > 8.64e15) return undefined;
  const iso = new Date(milliseconds).toISOString();
  if (iso.length !== 24) return undefined;
  const digits = fraction === '' ? iso.slice(20, 23) : fraction;
  return `${iso.slice(0, 20)}${digits.padEnd(6, '0').slice(0, 6)}Z`;
}
