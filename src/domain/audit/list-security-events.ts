import { fromUuid } from '#platform/base/ids.ts';
import { ownedList } from '#platform/postgres/owned-list.ts';
import { ms } from '#platform/postgres/statement.ts';
import type { AuditEventId, BrowserSessionId, ClientId, UserId } from '#vocabulary/ids.ts';
import { ADMIN_ACTION } from './audit-event.ts';
import { type Actor, actorOfEvent } from './event-actor.ts';

/** A security event as shown to its user. Times in milliseconds since the epoch. */
export interface SecurityEvent {
  readonly id: AuditEventId;
  readonly userId: UserId;
  /** See `AuditEventKind`. Older or newer versions may have stored other kinds. */
  readonly kind: string;
  readonly actor: Actor;
  readonly createdAt: number;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** A browser session, if one with this ID exists. Application sessions share the column. */
  readonly sessionId: BrowserSessionId | undefined;
  readonly clientId: ClientId | undefined;
  /** What the event concerns: part of an address, a provider or the name of a session. */
  readonly subject: string | undefined;
  /** How often it happened. */
  readonly count: number;
}

export interface SecurityEventFilter {
  readonly kinds: readonly string[];
  readonly since: number | undefined;
  /** Exclusive. */
  readonly until: number | undefined;
}

interface EventRow {
  readonly id: string;
  readonly user_id: string;
  readonly kind: string;
  readonly created_at: number;
  readonly ip: string | null;
  readonly user_agent: string | null;
  readonly session_id: string | null;
  readonly client_id: string | null;
  readonly subject: string | null;
  readonly reason: string | null;
  readonly by_admin: boolean;
  readonly count: number;
}

interface FilterParams {
  readonly kinds: readonly string[];
  readonly since: Date | null;
  readonly until: Date | null;
}

const NAME_OF_SESSION = `select coalesce(s.human_name, s.device_id) from oauth2_sessions s where s.id = e.session_id
      union all
      select coalesce(s.human_name, s.device_id) from compat_sessions s where s.id = e.session_id`;

const COLUMNS = {
  id: 'e.id',
  user_id: 'e.user_id',
  kind: 'e.kind',
  created_at: ms('e.created_at'),
  ip: 'host(e.ip)',
  user_agent: 'e.user_agent',
  session_id: 'e.session_id',
  client_id: 'e.client_id',
  subject: `coalesce(e.detail ->> 'email', e.detail ->> 'provider', e.detail ->> 'passkey', (${NAME_OF_SESSION} limit 1))`,
  reason: `e.detail ->> 'reason'`,
  by_admin: `coalesce(e.detail -> 'admin' is not null, false)`,
  count: `coalesce((e.detail ->> 'count')::integer, 1)`,
};

/** Actions of administrators contain their address. Their subject sees the event of the change itself. */
const IS_FOR_USERS = `e.kind <> '${ADMIN_ACTION}'`;

/** Uses index `audit_events_of_user`. */
export const securityEvents = ownedList<EventRow, SecurityEvent, object, FilterParams>({
  labels: { list: 'security-events-of-users', find: 'find-security-events' },
  columns: COLUMNS,
  from: 'audit_events e',
  owner: 'e.user_id',
  mayBeUnowned: true,
  where: IS_FOR_USERS,
  filters: `e.kind = any(:kinds::text[])
      and (:since::timestamptz is null or e.created_at >= :since::timestamptz)
      and (:until::timestamptz is null or e.created_at < :until::timestamptz)`,
  toItem: securityEvent,
});

/** Returns the parameters of the filter. */
export function securityEventFilter({ kinds, since, until }: SecurityEventFilter): FilterParams {
  return {
    kinds,
    since: since === undefined ? null : new Date(since),
    until: until === undefined ? null : new Date(until),
  };
}

function securityEvent(row: EventRow): SecurityEvent {
  return {
    id: fromUuid(row.id),
    userId: fromUuid(row.user_id),
    kind: row.kind,
    actor: actorOfEvent(row),
    createdAt: row.created_at,
    address: row.ip ?? undefined,
    userAgent: row.user_agent ?? undefined,
    sessionId: row.session_id === null ? undefined : fromUuid(row.session_id),
    clientId: row.client_id === null ? undefined : fromUuid(row.client_id),
    subject: row.subject ?? undefined,
    count: row.count,
  };
}
