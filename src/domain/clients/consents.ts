import { type ClientId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { ScopeRules } from '#protocol/oauth/scopes.ts';

/**
 * The scopes of a consent that are worth remembering, in canonical spelling. Those that are asked for each time are
 * left out: otherwise every sign-in with a device of its own would add one forever.
 */
export function rememberableScopes(scopes: readonly string[], rules: ScopeRules): readonly string[] {
  return scopes.filter((scope) => !rules.isChat(scope) && !rules.isAdmin(scope)).map((scope) => rules.canonical(scope));
}

/**
 * CTE `remembered` for a statement in which a person consents: adds the scopes and resource servers to those that the
 * person has agreed to before for this client.
 * @param granted CTE with one row (user_id, client_id) when the consent counts, else none
 * @param scopes parameter of type `text[]`, in canonical spelling
 * @param resources parameter of type `text[]`; both empty: nothing is remembered
 * @param now parameter with the time, cast to `timestamptz`
 */
export function rememberConsentCte(granted: string, scopes: string, resources: string, now: string): string {
  return `remembered as (
    insert into oauth2_consents as consent (user_id, client_id, scope, resources, created_at, updated_at)
    select ${granted}.user_id, ${granted}.client_id, ${scopes}, ${resources}, ${now}, ${now}
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

/** Everyone is asked again: the consent page now shows something else about the client than people agreed to. */
export async function forgetConsentsOfClient(queryable: Queryable, client: ClientId): Promise<void> {
  await queryable.execute(deleteConsentsOfClient, { clientId: toUuid(client) });
}

const deleteConsentsOfClient = statement<never, { readonly clientId: string }>(
  'delete-consents-of-client',
  'delete from oauth2_consents where client_id = :clientId::uuid',
);
