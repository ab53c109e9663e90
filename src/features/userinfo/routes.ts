/**
 * `GET` and `POST /oauth2/userinfo` (OpenID Connect Core 1.0 5.3): claims about the person behind an access token, as
 * far as its scopes reach.
 */

import { userFacts } from '#domain/accounts/user-facts.ts';
import { type Subjects, sectorHost } from '#domain/clients/subjects.ts';
import type { Core } from '#domain/core.ts';
import { findUserOfAccessToken, type UserOfTokenRow } from '#domain/oauth-sessions/use-access-token.ts';
import { readOAuthForm } from '#oauth-endpoint/oauth-form.ts';
import { epochSeconds } from '#platform/base/clock.ts';
import { type ErrorCode, LatchkeyError } from '#platform/base/errors.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { isFormType } from '#platform/http/request-body.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, json, noStore } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import { parseBearer } from '#protocol/oauth/presented-credentials.ts';
import { claimsFromJson } from '#protocol/oidc/claims-parameter.ts';
import { type UserClaims, userClaims } from '#protocol/oidc/user-claims.ts';

const UNREADABLE: ReadonlySet<ErrorCode> = new Set(['body_too_large', 'malformed_request', 'unsupported_media_type']);

export function mount(core: Core): Route[] {
  const route = {
    path: '/oauth2/userinfo',
    resource: 'oauth',
    errorFormat: 'oauth-json',
    cors: 'get-post',
  } as const;
  return [
    { ...route, method: 'GET', handle: async (context) => await answer(core, context, tokenOfGet(core, context)) },
    {
      ...route,
      method: 'POST',
      handle: async (context) => await answer(core, context, await tokenOfPost(core, context)),
    },
  ];
}

/** RFC 6750 2.3 is not offered: a token in an address ends up in logs and histories. */
function tokenOfGet(core: Core, context: RequestContext): string | undefined {
  const token = headerToken(core, context);
  if (token !== undefined && context.rawQuery !== '' && context.query.has('access_token')) {
    throw challenge(core, 'invalid_request', 'Send the access token in one place only.');
  }
  return token;
}

async function tokenOfPost(core: Core, context: RequestContext): Promise<string | undefined> {
  const inHeader = headerToken(core, context);
  if (inHeader === undefined) return (await readOAuthForm(context, ['access_token'])).get('access_token');
  if (isFormType(context.headers['content-type']) && (await hasTokenInForm(context))) {
    throw challenge(core, 'invalid_request', 'Send the access token in one place only.');
  }
  return inHeader;
}

/** Next to a token in the header any body will do (OpenID Connect Core 1.0 5.3.1), also one that is not a form. */
async function hasTokenInForm(context: RequestContext): Promise<boolean> {
  try {
    return (await context.readForm()).has('access_token');
  } catch (error) {
    if (error instanceof LatchkeyError && UNREADABLE.has(error.code)) return false;
    throw error;
  }
}

function headerToken(core: Core, context: RequestContext): string | undefined {
  const bearer = parseBearer(context.headers.authorization);
  if (bearer.kind === 'malformed') throw challenge(core, 'invalid_request', 'The Authorization header is malformed.');
  return bearer.kind === 'token' ? bearer.token : undefined;
}

async function answer(core: Core, context: RequestContext, token: string | undefined): Promise<HttpResponse> {
  // RFC 6750 3.1: a request without a token is told the scheme and no error code.
  if (token === undefined) {
    return {
      status: 401,
      headers: { 'cache-control': 'no-store', pragma: 'no-cache', 'www-authenticate': scheme(core) },
    };
  }
  const now = core.clock.now();
  const row = await findUserOfAccessToken(core.database, token, 'openid', core.adminRights, now);
  if (row === undefined) {
    throw challenge(core, 'invalid_token', 'The access token is unknown, expired or revoked, or has no user.');
  }
  context.setRequester({ kind: 'user', id: fromUuid(row.user_id), username: row.username });
  if (!row.scope.includes('openid')) {
    throw challenge(core, 'insufficient_scope', 'The access token lacks the scope openid.', 'openid');
  }
  core.activity.recordOAuth2Session(fromUuid(row.session_id), now, context.clientAddress, context.userAgent);
  const claims = userinfoClaims(row, core.subjects);
  if (row.userinfo_alg === null) return json(200, claims, { pragma: 'no-cache' });
  return await signedResponse(core, row, row.userinfo_alg, claims);
}

/** For a client that registered `userinfo_signed_response_alg`. @see OpenID Connect Core 1.0 5.3.2 */
async function signedResponse(
  core: Core,
  row: UserOfTokenRow,
  alg: string,
  claims: UserinfoClaims,
): Promise<HttpResponse> {
  const { config, clock, signingKeys } = core;
  const issued = { iss: config.http.issuer, aud: fromUuid(row.client_id), iat: epochSeconds(clock.now()) };
  const jwt = await signingKeys.signJwt({ ...claims, ...issued }, { alg });
  return { status: 200, headers: { 'content-type': 'application/jwt', ...noStore, pragma: 'no-cache' }, body: jwt };
}

/** RFC 6750 3. */
function challenge(core: Core, code: ErrorCode, description: string, scope?: string): LatchkeyError {
  const parts = [scheme(core), `error="${code}"`, `error_description="${description}"`];
  if (scope !== undefined) parts.push(`scope="${scope}"`);
  return new LatchkeyError(code, { description, headers: { 'www-authenticate': parts.join(', ') } });
}

function scheme(core: Core): string {
  return `Bearer realm="${core.config.http.issuer}"`;
}

/** OpenID Connect Core 1.0 5.3.2. */
export interface UserinfoClaims extends UserClaims {
  readonly sub: string;
  /** Absent where only a pairwise subject was granted, which it would make useless. */
  readonly username?: string;
}

function userinfoClaims(row: UserOfTokenRow, subjects: Subjects): UserinfoClaims {
  const sector = sectorHost(row.sector_uri);
  return {
    sub: subjects.of(fromUuid(row.user_id), sector),
    ...(sector === undefined || row.scope.includes('profile') ? { username: row.username } : {}),
    ...userClaims(userFacts(row), row.scope, claimsFromJson(row.claims).userinfo),
  };
}
