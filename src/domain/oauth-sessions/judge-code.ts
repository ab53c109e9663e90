import type { CodeRow } from './statements/read-code.ts';

/** What the token request says about the code. */
export interface CodeRequest {
  readonly redirectUri: string | undefined;
  readonly codeVerifier: string | undefined;
  readonly resources: readonly string[];
}

export type CodeRefusal =
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
  | 'sign-in-gone'
  | 'admin-scope'
  | 'resource';

export type CodeVerdict =
  | { readonly ok: true; readonly row: CodeRow }
  | { readonly ok: false; readonly reason: CodeRefusal };

export interface CodeRules {
  readonly lifetimeSeconds: number;
  /** RFC 7636 4.6. */
  readonly verifierFits: (verifier: string, challenge: string) => boolean;
  readonly mayRequestAdmin: (row: CodeRow) => boolean;
  readonly isAdminScope: (scope: string) => boolean;
}

/** A client's own double send of one request is told from the replay of a stolen code by its time and its proof. */
const DOUBLE_SEND_MS = 20_000;

/** The checks of oauth.md 8.2 in their order; writes nothing. */
export function judgeCode(row: CodeRow | undefined, request: CodeRequest, rules: CodeRules, now: number): CodeVerdict {
  if (row === undefined) return refuse('unknown');
  if (!row.is_own_client) return refuse('other-client');
  if (row.exchanged_at !== null) {
    const isDoubleSend = now - row.exchanged_at <= DOUBLE_SEND_MS && provesTheSame(row, request, rules);
    return refuse(isDoubleSend ? 'redeemed-just-now' : 'redeemed');
  }
  if (row.is_cancelled) return refuse('cancelled');
  if (now - row.fulfilled_at > rules.lifetimeSeconds * 1000) return refuse('expired');
  if (!redirectUriFits(row, request.redirectUri)) return refuse('redirect-uri');
  if (row.code_challenge === null) {
    // A verifier without a challenge is a sign of a request whose challenge was stripped (RFC 9700 4.8.2).
    if (request.codeVerifier !== undefined) return refuse('verifier-unexpected');
  } else {
    if (request.codeVerifier === undefined) return refuse('verifier-missing');
    if (!rules.verifierFits(request.codeVerifier, row.code_challenge)) return refuse('verifier-wrong');
  }
  if (!row.sign_in_is_usable) return refuse('sign-in-gone');
  if (row.scope.some(rules.isAdminScope) && !rules.mayRequestAdmin(row)) return refuse('admin-scope');
  if (request.resources.some((resource) => !row.resources.includes(resource))) return refuse('resource');
  return { ok: true, row };
}

/** The client is the same; so is the verifier, when the request was bound to one. */
function provesTheSame(row: CodeRow, { codeVerifier }: CodeRequest, rules: CodeRules): boolean {
  if (row.code_challenge === null) return codeVerifier === undefined;
  return codeVerifier !== undefined && rules.verifierFits(codeVerifier, row.code_challenge);
}

/** It may be left out when the authorization request had none, or when PKCE binds the code already. */
function redirectUriFits(row: CodeRow, redirectUri: string | undefined): boolean {
  if (redirectUri !== undefined) return redirectUri === row.redirect_uri;
  return !row.redirect_uri_sent || row.code_challenge !== null;
}

function refuse(reason: CodeRefusal): CodeVerdict {
  return { ok: false, reason };
}
