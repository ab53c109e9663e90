/**
 * `GET` and `POST /oauth2/userinfo` (OpenID Connect Core 1.0 5.3): claims about an access token's user, limited by its
 * scopes.
 */

import { clientIdentifier } from '#domain/clients/client-names.ts';
import { type Subjects, sectorHost } from '#domain/clients/subjects.ts';
import type { Core } from '#domain/core.ts';
import { accessTokenHash } from '#domain/oauth-sessions/access-token-hash.ts';
import { type TokenSettings, tokenSettings } from '#domain/oauth-sessions/token-settings.ts';
import { findUserOfAccessToken, type UserOfTokenRow } from '#domain/oauth-sessions/use-access-token.ts';
import { userFacts } from '#domain/records/user-facts.ts';
import { DpopProofs, dpopChallenge } from '#oauth-endpoint/dpop-proofs.ts';
import { readOAuthForm } from '#oauth-endpoint/oauth-form.ts';
import { headerToken, insufficientScope, invalidToken, type PresentedToken } from '#oauth-endpoint/token-challenges.ts';
import { epochSeconds } from '#platform/base/clock.ts';
import { type ErrorCode, LatchkeyError } from '#platform/base/errors.ts';
import { fromUuid } from '#platform/base/ids.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import { isFormType } from '#platform/http/request-body.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, json, noStore } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import { claimsFromJson } from '#protocol/oidc/claims-parameter.ts';
import { extraClaimsFromJson } from '#protocol/oidc/extra-claims.ts';
import { claimsOfUser, mergedClaims } from '#protocol/oidc/user-claims.ts';

const UNREADABLE: ReadonlySet<ErrorCode> = new Set(['body_too_large', 'malformed_request', 'unsupported_media_type']);

const PATH = 'oauth2/userinfo';

interface UserinfoDeps {
  readonly core: Core;
  readonly proofs: DpopProofs;
  readonly settings: TokenSettings;
}

export function mount(core: Core): Route[] {
  const deps = { core, proofs: new DpopProofs(core), settings: tokenSettings(core.config) };
  const route = {
    path: `/${PATH}`,
    resource: 'oauth',
    errorFormat: 'oauth-json',
    cors: 'get-post',
  } as const;
  return [
    {
      ...route,
      method: 'GET',
      handle: async (context) =>
        await responseFor(deps, context, alone(core, context, presentedInHeader(core, context))),
    },
    {
      ...route,
      method: 'POST',
      handle: async (context) => await responseFor(deps, context, await tokenOfPost(core, context)),
    },
  ];
}

/**
 * Rejects a token in the URL next to the one that counts. A token in a URL ends up in logs and histories, so RFC 6750
 * 2.3 is not supported.
 */
function alone(core: Core, context: RequestContext, presented: PresentedToken | undefined): PresentedToken | undefined {
  if (presented !== undefined && context.rawQuery !== '' && hasToken(context.query)) {
    throw challenge(core, 'invalid_request', 'The access token must be sent in only one place.');
  }
  return presented;
}

async function tokenOfPost(core: Core, context: RequestContext): Promise<PresentedToken | undefined> {
  const inHeader = presentedInHeader(core, context);
  if (inHeader === undefined) {
    const token = (await readOAuthForm(context, ['access_token'])).get('access_token');
    return alone(core, context, token === undefined ? undefined : { token, isBound: false });
  }
  if (isFormType(context.headers['content-type']) && (await hasTokenInForm(context))) {
    throw challenge(core, 'invalid_request', 'The access token must be sent in only one place.');
  }
  return alone(core, context, inHeader);
}

/** Includes a repeated token whose first value is empty. */
function hasToken(parameters: FormParameters): boolean {
  return parameters.has('access_token') || parameters.isRepeated('access_token');
}

/** With a token in the header, any body is accepted (OpenID Connect Core 1.0 5.3.1), even one that is not a form. */
async function hasTokenInForm(context: RequestContext): Promise<boolean> {
  try {
    return hasToken(await context.readForm());
  } catch (error) {
    if (error instanceof LatchkeyError && UNREADABLE.has(error.code)) return false;
    throw error;
  }
}

function presentedInHeader(core: Core, context: RequestContext): PresentedToken | undefined {
  const found = headerToken(context.headers.authorization);
  if (found === 'malformed') throw challenge(core, 'invalid_request', 'The Authorization header is malformed.');
  return found;
}

async function responseFor(
  { core, proofs, settings }: UserinfoDeps,
  context: RequestContext,
  presented: PresentedToken | undefined,
): Promise<HttpResponse> {
  // RFC 6750 3.1: the response to a request without a token lists the schemes, without an error code.
  if (presented === undefined) {
    const headers = { ...noStore, pragma: 'no-cache', 'www-authenticate': `${scheme(core)}, ${dpopChallenge()}` };
    return { status: 401, headers };
  }
  const { token, isBound } = presented;
  const proofKey = isBound ? await proofs.ofToken(context, PATH, token) : undefined;
  const now = core.clock.now();
  const key = proofKey?.thumbprint;
  const hash = accessTokenHash(core, token);
  const row =
    hash === undefined
      ? undefined
      : await findUserOfAccessToken(core.database, hash, key, 'openid', settings, core.adminRights, now);
  if (row === undefined && isBound)
    throw invalidToken('The access token is not bound to this key, or not active.', true);
  if (row === undefined) {
    throw challenge(core, 'invalid_token', 'The access token is unknown, expired, revoked or bound, or has no user.');
  }
  await proofKey?.consume();
  context.setRequester({ kind: 'user', id: fromUuid(row.user_id), username: row.username });
  context.requireWork();
  if (!row.scope.includes('openid')) {
    if (isBound) throw insufficientScope('openid', true);
    throw challenge(core, 'insufficient_scope', 'The access token lacks the scope openid.', 'openid');
  }
  core.activity.recordOAuth2Session(fromUuid(row.session_id), now, context.clientAddress, context.userAgent);
  const claims = userinfoClaims(row, core.subjects);
  const response =
    row.userinfo_alg === null
      ? json(200, claims, { pragma: 'no-cache' })
      : await signedResponse(core, row, row.userinfo_alg, claims);
  return withInteractionId(context, proofKey === undefined ? response : proofs.withNonce(response));
}

const INTERACTION_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Returns the ID that FAPI 2.0 clients use to find a request in the logs of both sides (FAPI 2.0 Implementation Advice
 * 2.1.1).
 */
function withInteractionId({ headers }: RequestContext, response: HttpResponse): HttpResponse {
  const id = headers['x-fapi-interaction-id'];
  if (typeof id !== 'string' || !INTERACTION_ID.test(id)) return response;
  return { ...response, headers: { ...response.headers, 'x-fapi-interaction-id': id } };
}

/** For clients that registered `userinfo_signed_response_alg`. @see OpenID Connect Core 1.0 5.3.2 */
async function signedResponse(
  core: Core,
  row: UserOfTokenRow,
  alg: string,
  claims: UserinfoClaims,
): Promise<HttpResponse> {
  const { config, clock, signingKeys } = core;
  const issued = {
    iss: config.http.issuer,
    aud: clientIdentifier(fromUuid(row.client_id), row.client_document_url),
    iat: epochSeconds(clock.now()),
  };
  const jwt = await signingKeys.signJwt({ ...claims, ...issued }, { alg });
  return { status: 200, headers: { 'content-type': 'application/jwt', ...noStore, pragma: 'no-cache' }, body: jwt };
}

/** RFC 6750 3. */
function challenge(core: Core, code: ErrorCode, description: string, scope?: string): LatchkeyError {
  const parts = [scheme(core), `error="${code}"`, `error_description="${description}"`];
  if (scope !== undefined) parts.push(`scope="${scope}"`);
  if (code === 'invalid_token') parts.push(dpopChallenge());
  return new LatchkeyError(code, { description, headers: { 'www-authenticate': parts.join(', ') } });
}

function scheme(core: Core): string {
  return `Bearer realm="${core.config.http.issuer}"`;
}

/** OpenID Connect Core 1.0 5.3.2. */
export interface UserinfoClaims extends Readonly<Record<string, unknown>> {
  readonly sub: string;
  /** Omitted if only a pairwise subject was granted, because it would defeat the purpose. */
  readonly username?: string;
}

function userinfoClaims(row: UserOfTokenRow, subjects: Subjects): UserinfoClaims {
  const sector = sectorHost(row.sector_uri);
  const named = claimsFromJson(row.claims).userinfo;
  const who = {
    sub: subjects.of(fromUuid(row.user_id), sector),
    ...(sector === undefined || row.scope.includes('profile') ? { username: row.username } : {}),
  };
  const claims = claimsOfUser(userFacts(row), row.scope, named, extraClaimsFromJson(row.client_claims));
  // First for readability, last so that nothing overrides it.
  return { ...who, ...mergedClaims(claims), ...who };
}
