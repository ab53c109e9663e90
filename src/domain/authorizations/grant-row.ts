import { fromUuid } from '#platform/base/ids.ts';
import { ms } from '#platform/postgres/statement.ts';
import { PROMPTS } from '#protocol/oauth/authorization-parameters.ts';
import { RESPONSE_MODES, type ResponseMode } from '#protocol/oauth/authorization-response.ts';
import { claimsFromJson } from '#protocol/oidc/claims-parameter.ts';
import type { AuthorizationGrant, Decision } from './authorization-grant.ts';

/** What `grantColumns` selects. */
export interface GrantRow {
  readonly grant_id: string;
  readonly grant_client_id: string;
  readonly grant_redirect_uri: string;
  readonly grant_scope: readonly string[];
  readonly grant_response_mode: string;
  readonly grant_state: string | null;
  readonly grant_prompt: readonly string[];
  readonly grant_max_age: number | null;
  readonly grant_login_hint: string | null;
  readonly grant_locale: string | null;
  readonly grant_acr_values: readonly string[];
  readonly grant_acr_essential: boolean;
  readonly grant_claims: unknown;
  readonly grant_expected_user_id: string | null;
  readonly grant_registration_offered: boolean;
  readonly grant_created_at: number;
  readonly grant_expires_at: number;
  readonly grant_decision: string | null;
  readonly grant_user_session_id: string | null;
  readonly grant_fulfilled_at: number | null;
  readonly grant_is_exchanged: boolean;
  readonly grant_is_cancelled: boolean;
}

/** The columns that `toGrant` reads, of `oauth2_authorization_grants` under this alias; for joined reads. */
export function grantColumns(alias: string): string {
  return `${alias}.id as grant_id,
    ${alias}.client_id as grant_client_id,
    ${alias}.redirect_uri as grant_redirect_uri,
    ${alias}.scope as grant_scope,
    ${alias}.response_mode as grant_response_mode,
    ${alias}.state as grant_state,
    ${alias}.prompt as grant_prompt,
    ${alias}.max_age as grant_max_age,
    ${alias}.login_hint as grant_login_hint,
    ${alias}.locale as grant_locale,
    ${alias}.acr_values as grant_acr_values,
    ${alias}.acr_essential as grant_acr_essential,
    ${alias}.claims as grant_claims,
    ${alias}.expected_user_id as grant_expected_user_id,
    ${alias}.registration_offered as grant_registration_offered,
    ${ms(`${alias}.created_at`)} as grant_created_at,
    ${ms(`${alias}.expires_at`)} as grant_expires_at,
    ${alias}.decision as grant_decision,
    ${alias}.user_session_id as grant_user_session_id,
    ${ms(`${alias}.fulfilled_at`)} as grant_fulfilled_at,
    ${alias}.exchanged_at is not null as grant_is_exchanged,
    ${alias}.cancelled_at is not null as grant_is_cancelled`;
}

export function toGrant(row: GrantRow): AuthorizationGrant {
  return {
    id: fromUuid(row.grant_id),
    clientId: fromUuid(row.grant_client_id),
    target: {
      redirectUri: row.grant_redirect_uri,
      responseMode: responseMode(row.grant_response_mode),
      state: row.grant_state ?? undefined,
    },
    scope: row.grant_scope,
    prompts: PROMPTS.filter((prompt) => row.grant_prompt.includes(prompt)),
    maxAge: row.grant_max_age ?? undefined,
    loginHint: row.grant_login_hint ?? undefined,
    locale: row.grant_locale ?? undefined,
    acr: { values: row.grant_acr_values, isEssential: row.grant_acr_essential },
    claims: claimsFromJson(row.grant_claims),
    expectedUserId: row.grant_expected_user_id === null ? undefined : fromUuid(row.grant_expected_user_id),
    isRegistrationOffered: row.grant_registration_offered,
    createdAt: row.grant_created_at,
    expiresAt: row.grant_expires_at,
    decision: decision(row.grant_decision),
    browserSessionId: row.grant_user_session_id === null ? undefined : fromUuid(row.grant_user_session_id),
    fulfilledAt: row.grant_fulfilled_at ?? undefined,
    isExchanged: row.grant_is_exchanged,
    isCancelled: row.grant_is_cancelled,
  };
}

function responseMode(text: string): ResponseMode {
  const mode = RESPONSE_MODES.find((known) => known === text);
  if (mode === undefined) throw new Error(`a grant is stored with an unknown response mode: ${text}`);
  return mode;
}

function decision(text: string | null): Decision | undefined {
  return text === 'consent' || text === 'cancel' ? text : undefined;
}
