/**
 * Stores the metadata that a client publishes (OAuth Client ID Metadata Document). The first fetch creates the client,
 * later ones replace its metadata. Sessions and tokens continue in either case.
 */
import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { RegisteredMetadata } from '#protocol/oauth/registration-request.ts';
import { canonicalJson } from './canonical-json.ts';
import type { ClientMetadata } from './client.ts';
import { documentClientId } from './client-names.ts';
import { endOutdatedConsentsAndGrants, type GrantCanceller } from './outdated-consents.ts';
import { sectorLeft } from './subjects.ts';

export interface StoreClientDocumentDeps extends GrantCanceller {
  readonly database: Database;
  readonly clock: Clock;
}

export interface FetchedClientDocument {
  readonly url: string;
  /** The accepted metadata. */
  readonly metadata: RegisteredMetadata;
  readonly freshForSeconds: number;
}

export type StoredClientDocument =
  | { readonly ok: true; readonly change: 'new' | 'changed' | 'unchanged' }
  /** `disabled`: by an operator. `taken`: the operator has configured a different client with this ID. */
  | { readonly ok: false; readonly reason: 'disabled' | 'taken' }
  /** Its pairwise subjects belong to this host, which cannot change. */
  | { readonly ok: false; readonly reason: 'other-sector'; readonly sector: string };

export async function storeClientDocument(
  { database, clock, ...canceller }: StoreClientDocumentDeps,
  { url, metadata, freshForSeconds }: FetchedClientDocument,
): Promise<StoredClientDocument> {
  const id = documentClientId(url);
  const now = clock.now();
  const row = {
    id: toUuid(id),
    url,
    metadata: JSON.stringify(metadata),
    freshUntil: new Date(now + freshForSeconds * 1000),
    now: new Date(now),
  };
  return await database.transaction(
    async (transaction) => {
      if ((await transaction.execute(insertClient, row)) > 0) return { ok: true, change: 'new' };
      const stored = await transaction.first(lockClient, { id: row.id });
      // Or the client was deleted between the two statements; the next request stores it.
      if (stored === undefined || stored.document_url !== url) return { ok: false, reason: 'taken' };
      if (stored.is_disabled) return { ok: false, reason: 'disabled' };
      const sector = sectorLeft(stored.metadata, metadata);
      if (sector !== undefined) return { ok: false, reason: 'other-sector', sector };
      const isSame = canonicalJson(stored.metadata) === canonicalJson(metadata);
      await transaction.execute(updateClient, { ...row, isSame });
      if (isSame) return { ok: true, change: 'unchanged' };
      await endOutdatedConsentsAndGrants(canceller, transaction, { id, former: stored.metadata, metadata, now });
      return { ok: true, change: 'changed' };
    },
    { isRepeatable: true },
  );
}

interface DocumentParameters extends Record<string, unknown> {
  readonly id: string;
  readonly url: string;
  readonly metadata: string;
  readonly freshUntil: Date;
  readonly now: Date;
}

const insertClient = statement<never, DocumentParameters>(
  'insert-client-document',
  `insert into oauth2_clients (id, is_static, metadata, created_at, document_url, document_fresh_until)
   values (:id::uuid, false, :metadata::jsonb, :now::timestamptz, :url::text, :freshUntil::timestamptz)
   on conflict (id) do nothing`,
);

/** A weaker lock than a deletion takes, so that rows which refer to the client can still be inserted. */
const lockClient = statement<
  { readonly document_url: string | null; readonly is_disabled: boolean; readonly metadata: ClientMetadata },
  { readonly id: string }
>(
  'lock-client-document',
  `select document_url, disabled_at is not null as is_disabled, metadata
     from oauth2_clients where id = :id::uuid for no key update`,
);

/** Counts as a use, like a registration. Unchanged metadata keeps its version, so that caches stay valid. */
const updateClient = statement<never, Omit<DocumentParameters, 'url'> & { readonly isSame: boolean }>(
  'update-client-document',
  `update oauth2_clients
      set version = case when :isSame::boolean then version else version + 1 end,
          metadata = :metadata::jsonb,
          document_fresh_until = :freshUntil::timestamptz,
          last_used_at = greatest(last_used_at, :now::timestamptz)
    where id = :id::uuid`,
);
