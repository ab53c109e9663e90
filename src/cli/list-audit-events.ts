import { AUDIT_EVENT_KINDS } from '#domain/audit/audit-event.ts';
import { auditEventPages, type ExportFormat, eventExport } from '#domain/audit/event-export.ts';
import type { AuditEventFilter, AuditOutcome, ListedAuditEvent } from '#domain/audit/list-audit-events.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { parseId } from '#platform/base/ids.ts';
import { parseCidr } from '#platform/base/ip-address.ts';
import { findManagedUser, type ManageDeps } from './accounts.ts';
import { operatorChange } from './operator-change.ts';
import { table } from './table.ts';
import { visible } from './visible-text.ts';

type Format = 'text' | ExportFormat;

export interface ListAuditEventsOptions {
  /** A username, `@user:server` or an ID. */
  readonly user?: string;
  /** The same, or `operator`. */
  readonly actor?: string;
  readonly kind?: readonly string[];
  readonly client?: string;
  readonly address?: string;
  /** RFC 3339. */
  readonly since?: string;
  readonly until?: string;
  readonly outcome?: AuditOutcome;
  readonly format: Format;
  readonly limit: number;
}

/**
 * `manage list-audit-events`: the newest events. `csv` and `ndjson` are exports: each is an event itself. Throws
 * `ExitError` 1 if a user does not exist, 2 for an invalid filter.
 */
export async function listAuditEventsCommand(deps: ManageDeps, options: ListAuditEventsOptions): Promise<void> {
  const { database, io } = deps;
  const { format, limit } = options;
  const filter = await filterOf(deps, options);
  if (format !== 'text') {
    await operatorChange(deps, { operation: 'list-audit-events', target: undefined }, async () => undefined);
    for await (const part of eventExport(database, filter, limit, format)) io.stdout(part);
    return;
  }
  const shown: string[][] = [];
  for await (const rows of auditEventPages(database, filter, limit, (events) => events.map(rowOf))) shown.push(...rows);
  io.stdout(table([HEADER, ...shown]));
}

const KINDS: ReadonlySet<string> = new Set(AUDIT_EVENT_KINDS);
const HEADER = ['time', 'kind', 'user', 'actor', 'address', 'operation', 'target'];

function rowOf({ createdAt, kind, user, actor, address, operation, target }: ListedAuditEvent): string[] {
  const cells = [
    new Date(createdAt).toISOString(),
    kind,
    user?.username ?? user?.id,
    actor.username ?? actor.type,
    address,
    operation,
    target && `${target.type} ${target.id}`,
  ];
  return cells.map((cell) => visible(cell ?? '-'));
}

async function filterOf(deps: ManageDeps, options: ListAuditEventsOptions): Promise<AuditEventFilter> {
  const { user, actor, kind, client, address, since, until, outcome } = options;
  if (address !== undefined && parseCidr(address) === undefined) throw invalid('--address', address);
  const clientId = client === undefined ? undefined : parseId<'client'>(client);
  if (client !== undefined && clientId === undefined) throw invalid('--client', client);
  const unknown = kind?.find((name) => !KINDS.has(name));
  if (unknown !== undefined) throw invalid('--kind', unknown);
  return {
    user: user === undefined ? undefined : (await findManagedUser(deps, user)).id,
    actor: actor === undefined || actor === 'operator' ? actor : (await findManagedUser(deps, actor)).id,
    kinds: kind,
    client: clientId,
    address,
    since: timeOf('--since', since),
    until: timeOf('--until', until),
    outcome,
  };
}

const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d))?$/;

function timeOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw invalid(option, text);
  return time;
}

function invalid(option: string, value: string): ExitError {
  return new ExitError(ExitCode.usage, `${option}: ${visible(value)} is not a valid value`);
}
