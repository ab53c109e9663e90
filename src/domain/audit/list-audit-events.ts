/** The events of all accounts and of administrators, newest first, for administrators (administration A-19). */
import { fromUuid, lowestIdAt, parseId, toUuid, type Ulid } from '#platform/base/ids.ts';
import { BoundedListing, type CappedCount, type OlderPage, type Span } from '#platform/postgres/bounded-listing.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import type { UserId } from '#vocabulary/ids.ts';
import { ADMIN_ACTION } from './audit-event.ts';
import { actorOfEvent } from './event-actor.ts';

/** `anonymous`: somebody who could not prove to be the user. `system`: the server, for example by age. */
export type AuditActorType = 'user' | 'admin' | 'operator' | 'system' | 'anonymous';

export interface ListedAuditEvent {
  /** UUID. */
  readonly id: string;
  /** See `AuditEventKind`. Older or newer versions may have stored other kinds. */
  readonly kind: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** The account that the event concerns, if it still exists. */
  readonly user: { readonly id: UserId; readonly username: string | undefined } | undefined;
  readonly actor: {
    readonly type: AuditActorType;
    /** Undefined if it is not an account. */
    readonly id: Ulid | undefined;
    readonly username: string | undefined;
  };
  readonly clientId: Ulid | undefined;
  readonly sessionId: Ulid | undefined;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  readonly outcome: AuditOutcome;
  /** What an administrator or operator did. */
  readonly operation: string | undefined;
  readonly target: { readonly type: string; readonly id: string } | undefined;
  /** Names of changed members. */
  readonly changed: readonly string[];
  readonly requestId: string | undefined;
  /** Other facts, which depend on the kind. */
  readonly detail: Readonly<Record<string, unknown>>;
}

export type AuditOutcome = 'ok' | 'failed';

export interface AuditEventFilter {
  /** The account that events concern. */
  readonly user?: UserId | undefined;
  /** Who caused them: an account, or the operators at the command line. */
  readonly actor?: UserId | 'operator' | undefined;
  readonly kinds?: readonly string[] | undefined;
  readonly client?: Ulid<'client'> | undefined;
  /** An IP address, or a network in CIDR notation. */
  readonly address?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Exclusive. */
  readonly until?: number | undefined;
  readonly outcome?: AuditOutcome | undefined;
}

interface EventRow {
  readonly id: string;
  readonly kind: string;
  readonly created_at: number;
  readonly user_id: string | null;
  readonly client_id: string | null;
  readonly session_id: string | null;
  readonly ip: string | null;
  readonly user_agent: string | null;
  readonly detail: Readonly<Record<string, unknown>> | null;
}

interface Filters {
  readonly user: string;
  /** The identifier of an account, as a ULID and as a UUID. */
  readonly actor: readonly string[];
  readonly operators: boolean;
  readonly address: string;
  readonly client: string;
  readonly kind: readonly string[];
  readonly otherKinds: readonly string[];
  readonly network: string;
}

/** Kinds of failed attempts. */
const FAILED: readonly string[] = ['login_failed'];

const BY_ADMIN = { key: `(e.detail ->> 'admin')`, value: '(:actor::text[])[1]' };
const CONCERNS_ACTOR = { key: 'e.user_id', value: '((:actor::text[])[2])::uuid', isSelective: true } as const;

/** @param bound rows that a page reads; undefined for the default */
export function auditEventListing(label: string, bound?: number): BoundedListing<EventRow, Filters> {
  return new BoundedListing<EventRow, Filters>(
    label,
    {
      table: 'audit_events',
      reads: ['kind', 'user_id', 'client_id', 'session_id', 'ip', 'user_agent', 'detail', 'created_at'],
      columns: {
        id: 'e.id',
        kind: 'e.kind',
        created_at: ms('e.created_at'),
        user_id: 'e.user_id',
        client_id: 'e.client_id',
        session_id: 'e.session_id',
        ip: 'host(e.ip)',
        user_agent: 'e.user_agent',
        detail: 'e.detail',
      },
      filters: {
        user: 'e.user_id = :user::uuid',
        // Users act for themselves, unless the event names somebody else.
        actor: `${BY_ADMIN.key} = ${BY_ADMIN.value} or (${CONCERNS_ACTOR.key} = ${CONCERNS_ACTOR.value}
          and e.detail ->> 'actor' is null and e.kind <> all (array['${FAILED.join("','")}']))`,
        operators: `e.detail ->> 'actor' = 'operator' and :operators::boolean`,
        address: 'e.ip = :address::inet',
        client: 'e.client_id = :client::uuid',
        kind: 'e.kind = any (:kind::text[])',
        otherKinds: 'e.kind <> all (:otherKinds::text[])',
        network: 'e.ip <<= :network::inet',
      },
      drivers: [
        { filter: 'user', parts: [{ key: 'e.user_id', value: ':user::uuid', isSelective: true }] },
        { filter: 'actor', parts: [BY_ADMIN, CONCERNS_ACTOR] },
        { filter: 'address', parts: [{ key: 'e.ip', value: ':address::inet' }] },
        { filter: 'client', parts: [{ key: 'e.client_id', value: ':client::uuid' }] },
        { filter: 'kind', parts: [{ key: 'e.kind', value: 'one.value' }], isList: true },
      ],
    },
    bound,
  );
}

const events = auditEventListing('audit-events');

/** Reads a page, and the usernames of its accounts. */
export async function listAuditEvents(
  queryable: Queryable,
  filter: AuditEventFilter,
  { before, size }: { readonly before: Ulid | undefined; readonly size: number },
): Promise<OlderPage<ListedAuditEvent>> {
  const { items, next } = await events.page(queryable, filtersOf(filter), spanOf(filter, before), size);
  return { items: await described(queryable, items), next };
}

export async function countAuditEvents(queryable: Queryable, filter: AuditEventFilter): Promise<CappedCount> {
  return await events.count(queryable, filtersOf(filter), spanOf(filter, undefined));
}

export async function findAuditEvent(queryable: Queryable, id: Ulid): Promise<ListedAuditEvent | undefined> {
  const row = await events.find(queryable, id);
  return row === undefined ? undefined : (await described(queryable, [row]))[0];
}

/** @internal for the test of the plans */
export function filtersOf({ user, actor, kinds, client, address, outcome }: AuditEventFilter) {
  const isNetwork = address?.includes('/') === true;
  const failed = kinds === undefined ? FAILED : FAILED.filter((kind) => kinds.includes(kind));
  const kind = outcome === 'failed' ? failed : kinds;
  return {
    user: user && toUuid(user),
    actor: actor === undefined || actor === 'operator' ? undefined : [actor, toUuid(actor)],
    // Only actions have an operator, so their index serves this filter.
    operators: actor === 'operator' ? true : undefined,
    kind: kind === undefined ? (actor === 'operator' ? [ADMIN_ACTION] : undefined) : [...new Set(kind)],
    otherKinds: outcome === 'ok' ? FAILED : undefined,
    client: client && toUuid(client),
    address: isNetwork ? undefined : address,
    network: isNetwork ? address : undefined,
  };
}

/** Identifiers of events contain the time of the event. */
function spanOf({ since, until }: AuditEventFilter, before: Ulid | undefined): Span {
  const end = until === undefined ? undefined : lowestIdAt(until);
  const isEarlier = before !== undefined && (end === undefined || before < end);
  return { after: since === undefined ? undefined : lowestIdAt(since), before: isEarlier ? before : end };
}

const usernames = statement<{ id: string; username: string }, { readonly ids: readonly string[] }>(
  'usernames-of-audit-events',
  'select u.id, u.username from users u where u.id = any (:ids::uuid[])',
);

/** @param ids UUIDs of accounts; those that no longer exist are left out */
export async function findUsernames(
  queryable: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await queryable.rows(usernames, { ids });
  return new Map(rows.map(({ id, username }) => [id, username]));
}

async function described(queryable: Queryable, rows: readonly EventRow[]): Promise<ListedAuditEvent[]> {
  const accounts = new Set(rows.flatMap(accountsOf));
  const names = await findUsernames(queryable, [...accounts]);
  return rows.map((row) => auditEvent(row, names));
}

function accountsOf({ user_id, detail }: EventRow): string[] {
  const admin = adminOf(detail);
  return [...(user_id === null ? [] : [user_id]), ...(admin === undefined ? [] : [toUuid(admin)])];
}

function auditEvent(row: EventRow, names: ReadonlyMap<string, string>): ListedAuditEvent {
  const { actor, admin, operation, target_type: type, target, changed, request, ...detail } = row.detail ?? {};
  return {
    id: row.id,
    kind: row.kind,
    createdAt: row.created_at,
    user: row.user_id === null ? undefined : { id: fromUuid(row.user_id), username: names.get(row.user_id) },
    actor: listedActor(row, names),
    clientId: row.client_id === null ? undefined : fromUuid(row.client_id),
    sessionId: row.session_id === null ? undefined : fromUuid(row.session_id),
    address: row.ip ?? undefined,
    userAgent: row.user_agent ?? undefined,
    outcome: FAILED.includes(row.kind) ? 'failed' : 'ok',
    operation: textOf(operation),
    target: typeof type === 'string' && typeof target === 'string' ? { type, id: target } : undefined,
    changed: Array.isArray(changed) ? changed.filter((name): name is string => typeof name === 'string') : [],
    requestId: textOf(request),
    detail,
  };
}

function listedActor(row: EventRow, names: ReadonlyMap<string, string>): ListedAuditEvent['actor'] {
  const admin = adminOf(row.detail);
  const type = typeOfActor(row, admin);
  if (admin !== undefined) return { type, id: admin, username: names.get(toUuid(admin)) };
  if (type !== 'user' || row.user_id === null) return { type, id: undefined, username: undefined };
  return { type, id: fromUuid(row.user_id), username: names.get(row.user_id) };
}

function typeOfActor(row: EventRow, admin: UserId | undefined): AuditActorType {
  const { kind, ip, user_agent, detail } = row;
  if (detail?.['actor'] === 'operator') return 'operator';
  if (FAILED.includes(kind)) return 'anonymous';
  const by_admin = admin !== undefined || detail?.['actor'] === 'admin';
  const actor = actorOfEvent({ kind, reason: textOf(detail?.['reason']) ?? null, by_admin, ip, user_agent });
  return actor === 'self' ? 'user' : actor;
}

function adminOf(detail: EventRow['detail']): UserId | undefined {
  return parseId<'user'>(textOf(detail?.['admin']) ?? '');
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
