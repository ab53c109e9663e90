/** Audit events of all accounts and of administrators (administration A-19). */
import { z } from 'zod';
import { type NamedAuditEvent, withNames } from '#domain/administration/event-names.ts';
import { AUDIT_EVENT_KINDS } from '#domain/audit/audit-event.ts';
import { type ExportFormat, eventExport, MAX_EXPORTED } from '#domain/audit/event-export.ts';
import {
  type AuditEventFilter,
  countAuditEvents,
  findAuditEvent,
  listAuditEvents,
} from '#domain/audit/list-audit-events.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { fromUuid, parseId } from '#platform/base/ids.ts';
import { prefersMediaType } from '#platform/http/accept.ts';
import { type HttpResponse, json, noStore } from '#platform/http/response.ts';
import { document, type Resource, time } from '../definition/documents.ts';
import { EXAMPLE_ID, EXAMPLE_TIME, filter, instant, network, ulid } from '../definition/fields.ts';
import {
  checkedExportLimit,
  linkQuery,
  readExportLimit,
  readFilters,
  readNewestFirst,
} from '../definition/list-parameters.ts';
import { type AdminCall, change, getOperation, newestFirstSchema, type Operation } from '../definition/operation.ts';

const ACTORS = ['user', 'admin', 'operator', 'system', 'anonymous'] as const;

export const AUDIT_EVENT: Resource<NamedAuditEvent> = {
  type: 'audit-event',
  path: 'audit-events',
  description: 'Security event of an account, or change by an administrator.',
  attributes: z.object({
    kind: z.string().describe('What happened, for example `login`; `admin_action`: a change by an administrator.'),
    created_at: z.iso.datetime().describe('When it happened.'),
    user_id: z.string().nullable().describe('Account that the event concerns; null: none.'),
    username: z.string().nullable().describe('Its username; null: no account, or it no longer exists.'),
    actor: z
      .object({
        type: z
          .enum(ACTORS)
          .describe('`operator`: at the command line; `system`: the server; `anonymous`: a failed sign-in.'),
        id: z.string().nullable().describe('Account of the actor; null: none.'),
        username: z.string().nullable().describe('Its username; null: unknown.'),
      })
      .describe('Who caused the event.'),
    client_id: z.string().nullable().describe('Client that the event concerns, or that the actor used; null: none.'),
    client_name: z.string().nullable().describe('Current name of the client; null: none, or it no longer exists.'),
    session_id: z.string().nullable().describe('Session that the event concerns; null: none.'),
    address: z.string().nullable().describe('IP address of the request; null: not recorded.'),
    user_agent: z.string().nullable().describe('User agent of the request; null: not recorded.'),
    outcome: z.enum(['ok', 'failed']).describe('`failed`: for example a wrong password.'),
    operation: z.string().nullable().describe('Operation, mutation or command of an `admin_action`; null: others.'),
    target: z
      .object({
        type: z.string().describe('Type of the record.'),
        id: z.string().describe('Its ID.'),
        name: z
          .string()
          .nullable()
          .describe('Current name of the account, client, group or provider; null: none, or it no longer exists.'),
      })
      .nullable()
      .describe('Record that an `admin_action` changed; null: others.'),
    changed: z.array(z.string()).describe('Names of the members that an `admin_action` changed.'),
    request_id: z.string().nullable().describe('Request of an `admin_action`, as in the log; null: others.'),
    detail: z.record(z.string(), z.unknown()).describe('Other facts, which depend on `kind`.'),
  }),
  attributesOf: (event) => ({
    kind: event.kind,
    created_at: time(event.createdAt),
    user_id: event.user?.id ?? null,
    username: event.user?.username ?? null,
    actor: { type: event.actor.type, id: event.actor.id ?? null, username: event.actor.username ?? null },
    client_id: event.clientId ?? null,
    client_name: event.clientName ?? null,
    session_id: event.sessionId ?? null,
    address: event.address ?? null,
    user_agent: event.userAgent ?? null,
    outcome: event.outcome,
    operation: event.operation ?? null,
    target: event.target === undefined ? null : { ...event.target, name: event.targetName ?? null },
    changed: event.changed,
    request_id: event.requestId ?? null,
    detail: event.detail,
  }),
};

const filters = z.object({
  user: filter(ulid(), 'Events that concern the account with this ID.', EXAMPLE_ID),
  actor: filter(
    z.union([z.literal('operator'), z.string().refine((text) => parseId(text) !== undefined, 'not a ULID')], {
      error: 'a ULID, or operator',
    }),
    'What the account with this ID did, as a user or as an administrator; `operator`: commands.',
    EXAMPLE_ID,
  ),
  kind: filter(
    z.array(z.enum(AUDIT_EVENT_KINDS, 'unknown kind of event')),
    'Events of this kind. If given several times: of any of them.',
    'admin_action',
  ),
  client: filter(ulid(), 'Events that concern or were caused through the client with this ID.', EXAMPLE_ID),
  address: filter(network(), 'Events from this IP address, or from a network in CIDR notation.', '192.0.2.0/24'),
  since: filter(instant(), 'Events at or after this time (RFC 3339).', EXAMPLE_TIME),
  until: filter(instant(), 'Events before this time (RFC 3339).', EXAMPLE_TIME),
  outcome: filter(
    z.enum(['ok', 'failed'], 'must be ok or failed'),
    'Events that failed (`failed`), or all others (`ok`).',
  ),
});

function selected(values: z.output<typeof filters>): AuditEventFilter {
  const { user, actor, kind, client, address, since, until, outcome } = values;
  return {
    user: user === undefined ? undefined : fromUuid(user),
    actor: actor === 'operator' ? actor : parseId<'user'>(actor ?? ''),
    kinds: kind,
    client: client === undefined ? undefined : fromUuid(client),
    address,
    since: since?.getTime(),
    until: until?.getTime(),
    outcome,
  };
}

const MEDIA_TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const satisfies Record<ExportFormat, string>;
const EXAMPLE_CSV = `id,created_at,kind,outcome,user_id,username\r\n${EXAMPLE_ID},${EXAMPLE_TIME},login,ok,,\r\n`;
const EXAMPLE_NDJSON = `{"id":"${EXAMPLE_ID}","created_at":"${EXAMPLE_TIME}","kind":"login","outcome":"ok"}\n`;

/** Returns the format that `Accept` names and prefers to JSON. */
function exportFormat(accept: string | undefined): ExportFormat | undefined {
  const isWanted = (format: ExportFormat, other: string) => prefersMediaType(accept, MEDIA_TYPES[format], other);
  if (isWanted('csv', MEDIA_TYPES.ndjson) && isWanted('csv', 'application/json')) return 'csv';
  return isWanted('ndjson', 'application/json') ? 'ndjson' : undefined;
}

/** Callers with a running export. */
const exporting = new Set<string>();
const RETRY_AFTER_SECONDS = 10;

/** Streams events. The export's own event is recorded before anything is sent. */
async function exportEvents(call: AdminCall, format: ExportFormat): Promise<HttpResponse> {
  const { caller, context, core } = call;
  const limit = readExportLimit(context.query, filters, MAX_EXPORTED);
  const wanted = selected(readFilters(context.query, filters));
  reserveExport(caller.user?.id ?? caller.clientId ?? '', context.signal);
  await change(call, { operation: 'exportAuditEvents', target: undefined }, async () => undefined);
  const date = new Date(core.clock.now()).toISOString().slice(0, 10);
  return {
    status: 200,
    headers: {
      'content-type': `${MEDIA_TYPES[format]}; charset=utf-8`,
      'content-disposition': `attachment; filename="audit-events-${date}.${format}"`,
      ...noStore,
    },
    body: eventExport(core.database, wanted, limit, format),
  };
}

/**
 * Allows a caller one export at a time, so that exports do not use up connections and statements.
 * @param signal of the request, which is aborted when its response has been sent or the client has left
 */
function reserveExport(caller: string, signal: AbortSignal): void {
  if (signal.aborted || exporting.has(caller)) {
    throw new LatchkeyError('rate_limited', {
      description: 'another export of this caller is running',
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
  exporting.add(caller);
  signal.addEventListener('abort', () => exporting.delete(caller), { once: true });
}

export const auditEventOperations: readonly Operation[] = [
  {
    id: 'listAuditEvents',
    method: 'GET',
    path: AUDIT_EVENT.path,
    tag: AUDIT_EVENT.type,
    summary: 'Lists security events of all accounts and changes by administrators',
    description:
      'The newest events first; `next` in `links` leads to older ones. A page may have fewer events than requested, or ' +
      'none, and still have a next page, because a request examines at most 20,000 events. The count stops at 10,000. ' +
      'Filters also find events of accounts and clients that no longer exist. With `Accept: text/csv` or ' +
      '`application/x-ndjson` the response is a file with up to 1,000,000 events, without pages. Each export is an ' +
      'event itself, with the operation `exportAuditEvents`. A caller may run one export at a time (429). If an export ' +
      'fails after it has begun, the connection is cut off.',
    filters,
    exports: {
      limit: MAX_EXPORTED,
      examples: { [MEDIA_TYPES.csv]: EXAMPLE_CSV, [MEDIA_TYPES.ndjson]: EXAMPLE_NDJSON },
    },
    pages: 'newest-first',
    answers: [
      { status: 200, schema: newestFirstSchema(AUDIT_EVENT), description: 'A page of objects of type `audit-event`.' },
    ],
    errors: ['invalid_parameter'],
    run: async (call) => {
      const { core, context, base } = call;
      const format = exportFormat(context.headers.accept);
      if (format !== undefined) return await exportEvents(call, format);
      checkedExportLimit(context.query, MAX_EXPORTED);
      const { size, before, count, repeated } = readNewestFirst(context.query, filters);
      const wanted = selected(readFilters(context.query, filters));
      const [page, total] = await Promise.all([
        count === 'only' ? undefined : listAuditEvents(core.database, wanted, { before, size }),
        count === 'false' ? undefined : countAuditEvents(core.database, wanted),
      ]);
      const path = `${base}/${AUDIT_EVENT.path}`;
      const after = (id: string | undefined) => (id === undefined ? [] : [['page[after]', id] as const]);
      const self = path + linkQuery(repeated, after(before));
      const meta = total && { count: total.count, count_is_capped: total.isCapped };
      if (page === undefined) return json(200, { meta, links: { self } });
      const named = await withNames(core.database, page.items);
      const data = named.map((event) => document(AUDIT_EVENT, event, call));
      const next = page.next === undefined ? undefined : path + linkQuery(repeated, after(page.next));
      return json(200, { meta, data, links: { self, first: path + linkQuery(repeated), next } });
    },
  },
  getOperation({
    id: 'getAuditEvent',
    summary: 'Gets an event',
    description: 'Returns an event by its ID.',
    resource: AUDIT_EVENT,
    source: {
      find: async ({ database }, id) => {
        const event = await findAuditEvent(database, id);
        return event === undefined ? undefined : (await withNames(database, [event]))[0];
      },
    },
  }),
];
