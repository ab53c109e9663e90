import {
  type ApprovedGrantRow,
  approvedGrantColumns,
  type RedemptionRefusal,
  type RedemptionRequest,
  type RedemptionRules,
  redemptionRefusal,
} from '#domain/authorizations/approved-grant.ts';
import type { Client } from '#domain/clients/client.ts';
import { grantHasCode } from '#domain/records/liveness/authorizations.ts';
import { isRecent } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';

/** The row of a presented authorization code: its grant, its sign-in and the client that presents it. */
export interface CodeRow extends ApprovedGrantRow {
  readonly redirect_uri: string;
  readonly redirect_uri_sent: boolean;
  /** Individually requested claims; see `claimsFromJson`. */
  readonly claims: unknown;
  readonly nonce: string | null;
  readonly code_challenge: string | null;
  /** Thumbprint of the key that the code is bound to. */
  readonly dpop_jkt: string | null;
  readonly fulfilled_at: number;
  readonly exchanged_at: number | null;
  readonly is_cancelled: boolean;
  readonly oauth2_session_id: string | null;
}

/** Uses the unique index on `code_hash`, then those of `approvedGrantColumns`. */
const readCode = statement<
  CodeRow,
  { readonly codeHash: Buffer; readonly clientId: string; readonly clientVersion: number }
>(
  'code-by-hash',
  `select ${approvedGrantColumns('g.claims')},
          g.redirect_uri,
          g.redirect_uri_sent,
          g.claims,
          g.nonce,
          g.code_challenge,
          g.dpop_jkt,
          ${ms('g.fulfilled_at')} as fulfilled_at,
          ${ms('g.exchanged_at')} as exchanged_at,
          g.cancelled_at is not null as is_cancelled,
          g.oauth2_session_id
     from oauth2_authorization_grants g
     join user_sessions us on us.id = g.user_session_id
     join users u on u.id = us.user_id
    where g.code_hash = :codeHash::bytea and ${grantHasCode('g')}`,
);

/** Finds the grant of a code, with one statement; undefined if there is none. */
export async function findCode(database: Queryable, client: Client, code: string): Promise<CodeRow | undefined> {
  return await database.first(readCode, {
    codeHash: sha256(code),
    clientId: toUuid(client.id),
    clientVersion: client.version,
  });
}

/** The parameters of the token request that concern the code. */
export interface CodeRequest extends RedemptionRequest {
  readonly redirectUri: string | undefined;
  readonly codeVerifier: string | undefined;
  /** Thumbprint of the key whose possession the request proves. */
  readonly thumbprint: string | undefined;
}

export type CodeRefusal =
  | RedemptionRefusal
  | 'unknown'
  | 'other-client'
  | 'redeemed-just-now'
  | 'redeemed'
  | 'cancelled'
  | 'expired'
  | 'redirect-uri'
  | 'verifier-missing'
  | 'verifier-unexpected'
  | 'verifier-wrong'
  | 'key';

export type CodeVerdict =
  | { readonly ok: true; readonly row: CodeRow }
  | { readonly ok: false; readonly reason: CodeRefusal };

export interface CodeRules extends RedemptionRules<CodeRow> {
  readonly lifetimeSeconds: number;
  /** RFC 7636 4.6. */
  readonly verifierFits: (verifier: string, challenge: string) => boolean;
}

/**
 * Within this time and with the same proof, a repeated request counts as resent by the client. Otherwise it counts as
 * the replay of a stolen code.
 */
const DOUBLE_SEND_MS = 20_000;

/** Makes the checks of oauth 8.2, in that order, without writing anything. */
export function judgeCode(row: CodeRow | undefined, request: CodeRequest, rules: CodeRules, now: number): CodeVerdict {
  if (row === undefined) return refuse('unknown');
  if (!row.is_own_client) return refuse('other-client');
  if (row.exchanged_at !== null) {
    const isDoubleSend = isRecent(row.exchanged_at, DOUBLE_SEND_MS, now) && provesTheSame(row, request, rules);
    return refuse(isDoubleSend ? 'redeemed-just-now' : 'redeemed');
  }
  if (row.is_cancelled) return refuse('cancelled');
  if (!isRecent(row.fulfilled_at, rules.lifetimeSeconds * 1000, now)) return refuse('expired');
  if (!redirectUriFits(row, request.redirectUri)) return refuse('redirect-uri');
  if (row.code_challenge === null) {
    // A verifier without a challenge indicates that an attacker removed the challenge from the request (RFC 9700
    // 4.8.2).
    if (request.codeVerifier !== undefined) return refuse('verifier-unexpected');
  } else {
    if (request.codeVerifier === undefined) return refuse('verifier-missing');
    if (!rules.verifierFits(request.codeVerifier, row.code_challenge)) return refuse('verifier-wrong');
  }
  if (!isKeyOf(row, request)) return refuse('key');
  const refusal = redemptionRefusal(row, request, rules);
  return refusal === undefined ? { ok: true, row } : refuse(refusal);
}

/**
 * Returns whether a request of the same client also has the same verifier and key, as far as the code is bound to them.
 */
function provesTheSame(row: CodeRow, request: CodeRequest, rules: CodeRules): boolean {
  const { codeVerifier } = request;
  if (!isKeyOf(row, request)) return false;
  if (row.code_challenge === null) return codeVerifier === undefined;
  return codeVerifier !== undefined && rules.verifierFits(codeVerifier, row.code_challenge);
}

/** RFC 9449 10. */
function isKeyOf(row: CodeRow, { thumbprint }: CodeRequest): boolean {
  return row.dpop_jkt === null || row.dpop_jkt === thumbprint;
}

/**
 * Returns whether `redirect_uri` is acceptable. It may be missing if the authorization request had none, or if PKCE
 * already binds the code.
 */
function redirectUriFits(row: CodeRow, redirectUri: string | undefined): boolean {
  if (redirectUri !== undefined) return redirectUri === row.redirect_uri;
  return !row.redirect_uri_sent || row.code_challenge !== null;
}

function refuse(reason: CodeRefusal): CodeVerdict {
  return { ok: false, reason };
}
