/**
 * CTE `remembered` for a statement in which a person consents: adds the scopes to those that the person has agreed
 * to give this client before.
 * @param granted CTE with one row (user_id, client_id) when the consent counts, else none
 * @param scopes parameter of type `text[]`, in canonical spelling; empty: nothing is remembered
 * @param now parameter with the time, cast to `timestamptz`
 */
export function rememberConsentCte(granted: string, scopes: string, now: string): string {
  return `remembered as (
    insert into oauth2_consents as consent (user_id, client_id, scope, created_at, updated_at)
    select ${granted}.user_id, ${granted}.client_id, ${scopes}, ${now}, ${now}
      from ${granted} where cardinality(${scopes}) > 0
    on conflict (user_id, client_id) do update
       set scope = (
             select array_agg(distinct each.scope order by each.scope)
               from unnest(consent.scope || excluded.scope) as each (scope)
           ),
           updated_at = excluded.updated_at
  )`;
}
