/** The kept versions of the policy data, with who stored each of them according to the audit events. */
import { ADMIN_ACTION } from '#domain/audit/audit-event.ts';
import { findUsernames } from '#domain/audit/list-audit-events.ts';
import { fromUuid, lowestIdAt, parseId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, type NoParameters, statement } from '#platform/postgres/statement.ts';
import type { ClientId, UserId } from '#vocabulary/ids.ts';
import type { PolicyDataId } from './store-policy-data.ts';

export interface PolicyVersion {
  readonly id: PolicyDataId;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Undefined if the event was deleted by its age. */
  readonly by: PolicyAuthor | undefined;
}

export interface PolicyAuthor {
  /** Undefined if a client acted for itself. */
  readonly user: { readonly id: UserId; readonly username: string | undefined } | undefined;
  readonly clientId: ClientId | undefined;
}

/** At most ten rows, newest first. */
const listVersions = statement<{ id: string; created_at: number }, NoParameters>(
  'policy-data-versions',
  `select d.id, ${ms('d.created_at')} as created_at from policy_data d order by d.id desc limit 10`,
);

/** The event follows its version by at most the wait of the transaction for other writers. */
const EVENT_WITHIN_MS = 60_000;

interface Wanted {
  /** ULIDs. */
  readonly versions: readonly string[];
  readonly since: readonly string[];
  readonly until: readonly string[];
}

/** Reads a minute of the index `(kind, id)` for each version. */
const findAuthors = statement<{ version: string; client_id: string | null; admin: string | null }, Wanted>(
  'policy-data-authors',
  `select v.version, e.client_id, e.admin
     from unnest(:versions::text[], :since::uuid[], :until::uuid[]) v (version, since, until)
     cross join lateral (
       select a.client_id, a.detail ->> 'admin' as admin from audit_events a
        where a.kind = '${ADMIN_ACTION}' and a.id >= v.since and a.id < v.until and a.detail ->> 'target' = v.version
        order by a.id limit 1
     ) e`,
);

/** Takes up to three statements. */
export async function listPolicyVersions(queryable: Queryable): Promise<readonly PolicyVersion[]> {
  const rows = await queryable.rows(listVersions, {});
  const versions = rows.map(({ id, created_at }) => ({ id: fromUuid<'policy-data'>(id), createdAt: created_at }));
  if (versions.length === 0) return [];
  const authors = await queryable.rows(findAuthors, {
    versions: versions.map(({ id }) => id),
    since: versions.map(({ createdAt }) => toUuid(lowestIdAt(createdAt))),
    until: versions.map(({ createdAt }) => toUuid(lowestIdAt(createdAt + EVENT_WITHIN_MS))),
  });
  const admins = new Map(authors.map(({ version, admin }) => [version, parseId<'user'>(admin ?? '')]));
  const names = await findUsernames(
    queryable,
    [...admins.values()].flatMap((id) => (id === undefined ? [] : [toUuid(id)])),
  );
  return versions.map((version) => {
    const author = authors.find((one) => one.version === version.id);
    const id = admins.get(version.id);
    const user = id && { id, username: names.get(toUuid(id)) };
    const clientId = author?.client_id == null ? undefined : fromUuid<'client'>(author.client_id);
    return { ...version, by: author && { user, clientId } };
  });
}
