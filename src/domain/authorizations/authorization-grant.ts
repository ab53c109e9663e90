/**
 * Authorization grants: authorization requests of clients, from `/authorize` to the code. Table
 * `oauth2_authorization_grants`; each state change of a row has its own file.
 *
 * pending -> fulfilled (a code was issued) -> exchanged; pending or fulfilled -> cancelled; pending -> expired by time.
 *
 * `features/authorization` decides what a pending grant still needs. `domain/oauth-sessions` exchanges the code and
 * defines its lifetime.
 */
import { fromUuid } from '#platform/base/ids.ts';
import { ms } from '#platform/postgres/statement.ts';
import { RESPONSE_MODES, type ResponseMode, type ResponseTarget } from '#protocol/oauth/authorization-response.ts';
import { PROMPTS, type Prompt } from '#protocol/oauth/request-parameters.ts';
import type { WantedAcr } from '#protocol/oauth/voluntary-parameters.ts';
import { claimsFromJson, type RequestedClaims } from '#protocol/oidc/claims-parameter.ts';
import type { AuthorizationGrantId, BrowserSessionId, ClientId } from '#vocabulary/ids.ts';

/** An authorization request as stored in its row. */
export interface AuthorizationGrant extends PendingRequest {
  readonly id: AuthorizationGrantId;
  readonly clientId: ClientId;
  /** Milliseconds since the epoch, like all times here. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Whether the user was redirected to the registration page for `prompt=create`. */
  readonly isRegistrationOffered: boolean;
  /** The user's choice on the consent page, not yet executed (form_post). */
  readonly decision: Decision | undefined;
  /** The browser session of the decision or of the code. */
  readonly browserSessionId: BrowserSessionId | undefined;
  readonly fulfilledAt: number | undefined;
  readonly isExchanged: boolean;
  readonly isCancelled: boolean;
}

/** The members that determine the steps between a request and its response. */
export interface PendingRequest {
  readonly target: ResponseTarget;
  readonly scope: readonly string[];
  /** Requested resource servers. */
  readonly resources: readonly string[];
  readonly prompts: readonly Prompt[];
  /** Seconds. */
  readonly maxAge: number | undefined;
  readonly loginHint: string | undefined;
  readonly acr: WantedAcr;
  /** Individually requested claims, beyond those of the scopes. */
  readonly claims: RequestedClaims;
  /** The `sub` values of the accounts that may respond; empty: any account. */
  readonly expectedSubjects: readonly string[];
  /** The installed language that the client requested; once fulfilled, the language that the user read. */
  readonly locale: string | undefined;
}

export type Decision = 'consent' | 'cancel';

export type GrantState = 'pending' | 'expired' | 'fulfilled' | 'exchanged' | 'cancelled';

/** @param now milliseconds since the epoch */
export function grantState(grant: AuthorizationGrant, now: number): GrantState {
  if (grant.isCancelled) return 'cancelled';
  if (grant.isExchanged) return 'exchanged';
  if (grant.fulfilledAt !== undefined) return 'fulfilled';
  return grant.expiresAt > now ? 'pending' : 'expired';
}

/** The columns that `grantColumns` selects. */
export interface GrantRow {
  readonly grant_id: string;
  readonly grant_client_id: string;
  readonly grant_redirect_uri: string;
  readonly grant_scope: readonly string[];
  readonly grant_resources: readonly string[];
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
  readonly grant_expected_subject: string | null;
  readonly grant_registration_offered: boolean;
  readonly grant_created_at: number;
  readonly grant_expires_at: number;
  readonly grant_decision: string | null;
  readonly grant_user_session_id: string | null;
  readonly grant_fulfilled_at: number | null;
  readonly grant_is_exchanged: boolean;
  readonly grant_is_cancelled: boolean;
}

/** Returns the columns that `toGrant` reads, for this alias of `oauth2_authorization_grants`; for joined reads. */
export function grantColumns(alias: string): string {
  return `${alias}.id as grant_id,
    ${alias}.client_id as grant_client_id,
    ${alias}.redirect_uri as grant_redirect_uri,
    ${alias}.scope as grant_scope,
    ${alias}.resources as grant_resources,
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
    ${alias}.expected_subject as grant_expected_subject,
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
    resources: row.grant_resources,
    prompts: PROMPTS.filter((prompt) => row.grant_prompt.includes(prompt)),
    maxAge: row.grant_max_age ?? undefined,
    loginHint: row.grant_login_hint ?? undefined,
    locale: row.grant_locale ?? undefined,
    acr: { values: row.grant_acr_values, isEssential: row.grant_acr_essential },
    claims: claimsFromJson(row.grant_claims),
    expectedSubjects: expectedSubjects(row),
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

function expectedSubjects(row: GrantRow): readonly string[] {
  if (row.grant_expected_user_id !== null) return [fromUuid(row.grant_expected_user_id)];
  return row.grant_expected_subject?.split(' ') ?? [];
}

function responseMode(text: string): ResponseMode {
  const mode = RESPONSE_MODES.find((known) => known === text);
  if (mode === undefined) throw new Error(`stored grant has an unknown response mode: ${text}`);
  return mode;
}

function decision(text: string | null): Decision | undefined {
  return text === 'consent' || text === 'cancel' ? text : undefined;
}
