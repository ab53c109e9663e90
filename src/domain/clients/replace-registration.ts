import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { usesSecret } from '#protocol/oauth/client-metadata.ts';
import type { RegisteredMetadata } from '#protocol/oauth/registration-request.ts';
import { newSecret, sealSecret } from './client.ts';
import { endOutdatedConsentsAndGrants, type GrantCanceller } from './outdated-consents.ts';
import { lockRegistration, type RegistrationAccess, type RegistrationSearch } from './registration-access.ts';

export interface ReplaceRegistrationDeps extends GrantCanceller {
  readonly database: Database;
  readonly keyRing: KeyRing;
  readonly clock: Clock;
}

/**
 * Replaces all metadata of a client (RFC 7592 2.2). Its sessions continue. The client keeps its secret unless its new
 * method uses none, and gets one if it needs one and has none.
 */
export async function replaceRegistration(
  { database, keyRing, clock, ...canceller }: ReplaceRegistrationDeps,
  access: RegistrationAccess,
  metadata: RegisteredMetadata,
): Promise<RegistrationSearch> {
  return await database.transaction(
    async (transaction) => {
      const found = await lockRegistration(transaction, keyRing, access);
      if (!found.ok) return found;
      const { client } = found;
      const { id } = client;
      const uuid = toUuid(id);
      const method = metadata.token_endpoint_auth_method;
      const secret = usesSecret(method) ? (client.secret ?? newSecret(method)) : undefined;
      const now = clock.now();
      await transaction.execute(updateClient, {
        id: uuid,
        clientSecretSealed: secret === undefined ? null : sealSecret(uuid, secret.reveal(), keyRing),
        metadata: JSON.stringify(metadata),
        now: new Date(now),
      });
      await endOutdatedConsentsAndGrants(canceller, transaction, { id, former: client.metadata, metadata, now });
      return { ok: true, client: { ...client, metadata, secret } };
    },
    { isRepeatable: true },
  );
}

/** Updates a locked client. Counts as a use, like the registration. */
const updateClient = statement<
  never,
  { readonly id: string; readonly clientSecretSealed: Buffer | null; readonly metadata: string; readonly now: Date }
>(
  'replace-client-registration',
  `update oauth2_clients
      set version = version + 1,
          client_secret_sealed = :clientSecretSealed::bytea,
          metadata = :metadata::jsonb,
          last_used_at = greatest(last_used_at, :now::timestamptz)
    where id = :id::uuid`,
);
