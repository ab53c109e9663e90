/**
 * Pushed authorization requests (RFC 9126): table `oauth2_pushed_requests`. A client submits the parameters of a
 * request in advance. During its short lifetime, the request can be used for one authorization grant
 * (`create-authorization-grant.ts`).
 */
import { fromUuid } from '#platform/base/ids.ts';
import { ms } from '#platform/postgres/statement.ts';
import type { AuthorizationGrantId, ClientId } from '#vocabulary/ids.ts';

/** Lifetime in seconds. */
export const PUSHED_REQUEST_SECONDS = 90;

/** Values by parameter name. */
export type PushedParameters = Readonly<Record<string, readonly string[]>>;

/** The result of looking up a reference. */
export type PushedRequest =
  /** Unknown reference, or a different client's. */
  | { readonly state: 'unknown' }
  | { readonly state: 'expired' }
  | { readonly state: 'used'; readonly grantId: AuthorizationGrantId }
  | { readonly state: 'waiting'; readonly parameters: PushedParameters; readonly isSigned: boolean };

/** The columns that `pushedRequestColumns` selects; null without a row. */
export interface PushedRequestRow {
  readonly pushed_client_id: string | null;
  readonly pushed_parameters: PushedParameters | null;
  readonly pushed_signed: boolean | null;
  readonly pushed_expires_at: number | null;
  readonly pushed_grant_id: string | null;
}

/** Returns the columns that `toPushedRequest` reads, for this alias of `oauth2_pushed_requests`; for joined reads. */
export function pushedRequestColumns(alias: string): string {
  return `${alias}.client_id as pushed_client_id,
    ${alias}.parameters as pushed_parameters,
    ${alias}.signed as pushed_signed,
    ${ms(`${alias}.expires_at`)} as pushed_expires_at,
    ${alias}.authorization_grant_id as pushed_grant_id`;
}

/**
 * @param clientId the requesting client
 * @param now milliseconds since the epoch
 */
export function toPushedRequest(row: PushedRequestRow | undefined, clientId: ClientId, now: number): PushedRequest {
  if (row === undefined || row.pushed_client_id === null || row.pushed_parameters === null) return { state: 'unknown' };
  if (fromUuid<'client'>(row.pushed_client_id) !== clientId) return { state: 'unknown' };
  if ((row.pushed_expires_at ?? 0) <= now) return { state: 'expired' };
  if (row.pushed_grant_id !== null) return { state: 'used', grantId: fromUuid(row.pushed_grant_id) };
  return { state: 'waiting', parameters: row.pushed_parameters, isSigned: row.pushed_signed === true };
}
