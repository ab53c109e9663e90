import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { newIdSql, statement } from '#platform/postgres/statement.ts';
import type { ScopeRules } from '#protocol/oauth/scopes.ts';
import type { ClientId, UserId } from '#vocabulary/ids.ts';

/**
 * Returns the scopes of a consent that are remembered, in canonical form. Scopes that require consent each time are
 * left out. Otherwise every sign-in with a separate device would add a scope permanently.
 */
export function rememberableScopes(scopes: readonly string[], rules: ScopeRules): readonly string[] {
  return scopes.filter((scope) => !rules.isChat(scope) && !rules.isAdmin(scope)).map((scope) => rules.canonical(scope));
}

/**
 * Returns the CTE `remembered`, for a statement that records a user's consent. It adds the scopes and resource servers
 * to those that the user has already granted to this client.
 * @param granted CTE with one row (user_id, client_id) if the consent is granted, else none
 * @param scopes parameter of type `text[]`, in canonical form
 * @param resources parameter of type `text[]`; if both are empty, nothing is stored
 * @param now parameter with the time, cast to `timestamptz`
 */
export function rememberConsentCte(granted: string, scopes: string, resources: string, now: string): string {
  return `remembered as (
    insert into oauth2_consents as consent (id, user_id, client_id, scope, resources, created_at, updated_at)
    select ${newIdSql(now)}, ${granted}.user_id, ${granted}.client_id, ${scopes}, ${resources}, ${now}, ${now}
      from ${granted} where cardinality(${scopes} || ${resources}) > 0
    on conflict (user_id, client_id) do update
       set scope = (
             select array_agg(distinct each.scope order by each.scope)
               from unnest(consent.scope || excluded.scope) as each (scope)
           ),
           resources = array(select distinct unnest(consent.resources || excluded.resources) order by 1),
           updated_at = excluded.updated_at
  )`;
}

/** Deletes all consents to a client, because its consent page changed. Users are asked once more. */
export async function forgetConsentsOfClient(queryable: Queryable, client: ClientId): Promise<void> {
  await queryable.execute(deleteConsentsOfClient, { clientId: toUuid(client) });
}

const deleteConsentsOfClient = statement<never, { readonly clientId: string }>(
  'delete-consents-of-client',
  'delete from oauth2_consents where client_id = :clientId::uuid',
);

/** Deletes all consents of a user whose account is deactivated. */
export async function forgetConsentsOfUser(queryable: Queryable, user: UserId): Promise<void> {
  await queryable.execute(deleteConsentsOfUser, { userId: toUuid(user) });
}

const deleteConsentsOfUser = statement<never, { readonly userId: string }>(
  'delete-consents-of-user',
  'delete from oauth2_consents where user_id = :userId::uuid',
);

/**
 * Returns the CTE `consent_revoked`, for a statement that revokes everything that a user has granted to a client.
 * @param user parameter of type `uuid`; @param client parameter of type `uuid`
 */
export function deleteConsentCte(user: string, client: string): string {
  return `consent_revoked as (
    delete from oauth2_consents where user_id = ${user} and client_id = ${client} returning client_id
  )`;
}
