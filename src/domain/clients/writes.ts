import { statement } from '#db/statement.ts';

/** Instances that start together take turns. */
export const lockConfigSync = statement<never, []>(
  'lock-config-sync',
  `select pg_advisory_xact_lock(hashtextextended('latchkey:config-sync', 0)) is null as locked`,
);

/** A dynamic client of the same id becomes a static one and loses what only dynamic ones have. */
export const upsertStaticClient = statement<
  never,
  [id: string, clientSecretSealed: Buffer | null, metadata: string, now: Date]
>(
  'upsert-static-client',
  `insert into oauth2_clients (id, is_static, client_secret_sealed, metadata, created_at)
   values ($1::uuid, true, $2::bytea, $3::jsonb, $4::timestamptz)
   on conflict (id) do update
      set is_static = true,
          version = oauth2_clients.version + 1,
          client_secret_sealed = excluded.client_secret_sealed,
          registration_token_hash = null,
          metadata_digest = null,
          metadata = excluded.metadata`,
);
