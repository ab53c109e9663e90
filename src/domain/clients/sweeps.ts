/**
 * Cleanup of unused dynamic clients (oauth 4.5). A client is in use while rows refer to it. A daily job then updates
 * `last_used_at`, which outlasts the cleanup of those rows. Requests therefore never write it.
 */
import { type Sweep, secondsBefore, sweepSome, type WalkRow, walkSql } from '#domain/clean-up/sweep.ts';
import { clientIsEnabled } from '#domain/records/liveness/clients.ts';
import { statement } from '#platform/postgres/statement.ts';

const DAY_SECONDS = 86_400;

const isInUse = `(
  exists (select from oauth2_sessions s where s.client_id = t.id)
  or exists (select from oauth2_authorization_grants g where g.client_id = t.id)
  or exists (select from oauth2_device_code_grants d where d.client_id = t.id)
  or exists (select from oauth2_pushed_requests p where p.client_id = t.id)
  or exists (select from personal_sessions o where o.owner_client_id = t.id)
)`;
const lastUse = 'coalesce(t.last_used_at, t.created_at)';

// Both walk the primary key: an index on the last use would have to be updated with every use.
const noteUses = statement<WalkRow, { readonly fromId: string; readonly usedBefore: Date; readonly now: Date }>(
  'sweep-oauth2-client-uses',
  walkSql({
    table: 'oauth2_clients',
    range: 't.id > :fromId::uuid',
    isDue: `not t.is_static and ${lastUse} < :usedBefore::timestamptz and ${isInUse}`,
    action: 'update oauth2_clients t set last_used_at = :now::timestamptz',
  }),
);

/**
 * Anyone can make the service fetch metadata documents from many URLs. A client without consents is deleted a day after
 * its last request was cleaned up, and fetched once more when needed. Clients with consents are kept as long as others.
 */
const isPublishedInVain = `t.document_url is not null and ${lastUse} < :documentUsedBefore::timestamptz
  and not exists (select from oauth2_consents consent where consent.client_id = t.id)`;

// Keeps disabled clients: registering the same metadata would otherwise bring them back.
const sweepUnused = statement<
  WalkRow,
  { readonly fromId: string; readonly usedBefore: Date; readonly documentUsedBefore: Date }
>(
  'sweep-oauth2-clients',
  walkSql({
    table: 'oauth2_clients',
    range: 't.id > :fromId::uuid',
    isDue: `not t.is_static and ${clientIsEnabled('t')}
      and (${lastUse} < :usedBefore::timestamptz or ${isPublishedInVain}) and not ${isInUse}`,
    action: 'delete from oauth2_clients t',
  }),
);

export const clientSweeps: readonly Sweep[] = [
  {
    name: 'cleanup-oauth2-client-uses',
    minute: 51,
    sweep: (database, now, _, from) =>
      sweepSome(database, noteUses, {
        fromId: from.id,
        usedBefore: secondsBefore(now, DAY_SECONDS),
        now: new Date(now),
      }),
  },
  {
    name: 'cleanup-oauth2-clients',
    minute: 52,
    sweep: (database, now, { unusedClientsSeconds }, from) =>
      sweepSome(database, sweepUnused, {
        fromId: from.id,
        usedBefore: secondsBefore(now, unusedClientsSeconds),
        documentUsedBefore: secondsBefore(now, DAY_SECONDS),
      }),
  },
];
