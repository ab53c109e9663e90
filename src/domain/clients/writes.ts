import { type NoParameters, statement } from '#platform/postgres/statement.ts';

/** Instances that start together take turns. */
export const lockConfigSync = statement<never, NoParameters>(
  'lock-config-sync',
  `select pg_advisory_xact_lock(hashtextextended('latchkey:config-sync', 0)) is null as locked`,
);

/** A dynamic client of the same id becomes a static one and loses what only dynamic ones have. */
export const upsertStaticClient = statement<
  never,
  { readonly id: string; readonly clientSecretSealed: Buffer | null; readonly metadata: string; readonly now: Date }
>(
  'upsert-static-client',
  `insert into oauth2_clients (id, is_static, client_secret_sealed, metadata, created_at)
   values (:id::uuid, true, :clientSecretSealed::bytea, :metadata::jsonb, :now::timestamptz)
   on conflict (id) do update
      set is_static = true,
          version = oauth2_clients.version + 1,
          client_secret_sealed = excluded.client_secret_sealed,
          registration_token_hash = null,
          metadata_digest = null,
          metadata = excluded.metadata`,
);
