/**
 * Cleanup of unused dynamic clients (oauth 4.5). A client is in use while rows refer to it. A daily job then updates
 * `last_used_at`, which outlasts the cleanup of those rows. Requests therefore never write it.
 */
import { type SweepRow, secondsBefore, walkTable } from '#domain/clean-up/sweep.ts';
import { clientIsEnabled, clientIsKept } from '#domain/records/liveness/clients.ts';

const DAY_SECONDS = 86_400;

const isInUse = `(
  exists (select from oauth2_sessions s where s.client_id = t.id)
  or exists (select from oauth2_authorization_grants g where g.client_id = t.id)
  or exists (select from oauth2_device_code_grants d where d.client_id = t.id)
  or exists (select from oauth2_pushed_requests p where p.client_id = t.id)
  or exists (select from personal_sessions o where o.owner_client_id = t.id)
)`;
const lastUse = 'coalesce(t.last_used_at, t.created_at)';

/**
 * Anyone can make the service fetch metadata documents from many URLs. A client without consents is deleted a day after
 * its last request was cleaned up, and fetched once more when needed. Clients with consents are kept as long as others.
 */
const isPublishedInVain = `t.document_url is not null and ${lastUse} < :documentUsedBefore::timestamptz
  and not exists (select from oauth2_consents consent where consent.client_id = t.id)`;

// Both walk the primary key: an index on the last use would have to be updated with every use.
export const clientSweeps: readonly SweepRow[] = [
  {
    name: 'cleanup-oauth2-client-uses',
    minute: 51,
    batch: walkTable('sweep-oauth2-client-uses', {
      table: 'oauth2_clients',
      isDue: `not ${clientIsKept('t')} and ${lastUse} < :usedBefore::timestamptz and ${isInUse}`,
      action: 'update oauth2_clients t set last_used_at = :now::timestamptz',
    }),
    parameters: (now) => ({ usedBefore: secondsBefore(now, DAY_SECONDS), now: new Date(now) }),
  },
  {
    name: 'cleanup-oauth2-clients',
    minute: 52,
    // Keeps disabled clients: registering the same metadata would otherwise bring them back.
    batch: walkTable('sweep-oauth2-clients', {
      table: 'oauth2_clients',
      isDue: `not ${clientIsKept('t')} and ${clientIsEnabled('t')}
        and (${lastUse} < :usedBefore::timestamptz or ${isPublishedInVain}) and not ${isInUse}`,
      action: 'delete from oauth2_clients t',
    }),
    parameters: (now, { unusedClientsSeconds }) => ({
      usedBefore: secondsBefore(now, unusedClientsSeconds),
      documentUsedBefore: secondsBefore(now, DAY_SECONDS),
    }),
  },
];
