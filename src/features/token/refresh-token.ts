import type { Client } from '#domain/clients/client.ts';
import { bindingKey, type ProofKey } from '#domain/oauth-sessions/proof-key.ts';
import { type Refreshed, type RefreshOutcome, refresh } from '#domain/oauth-sessions/refresh.ts';
import { required } from '#oauth-endpoint/oauth-form.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { Log } from '#platform/base/log.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import { parseScope, type ScopeRules } from '#protocol/oauth/scopes.ts';
import { valuesForLog } from '#protocol/oauth/uris-in-logs.ts';
import { claimsFromJson } from '#protocol/oidc/claims-parameter.ts';
import type { Grant, TokenDeps } from './grant.ts';
import { issuedAccessToken, MIXED_FORMATS, NO_ACCESS, signIdToken, tokenResponse } from './grant.ts';

export const refreshTokenGrant: Grant = {
  parameters: ['refresh_token', 'scope'],
  label: 'refresh_token',
  answer: refreshTokens,
};

/**
 * RFC 6749 6, with rotation (RFC 9700 4.14.2). A session with `openid` gets an ID token too (OpenID Connect Core 12.2).
 * Sessions of the homeserver's clients do not, because those clients refresh often and never read it.
 */
async function refreshTokens(
  deps: TokenDeps,
  context: RequestContext,
  form: FormParameters,
  client: Client,
  proofKey: ProofKey | undefined,
): Promise<HttpResponse | 'client-changed'> {
  const requested = form.get('scope');
  const now = deps.clock.now();
  const outcome = await refresh(
    deps.database,
    client,
    {
      refreshToken: required(form, 'refresh_token'),
      narrowScope: (granted) =>
        requested === undefined ? granted : narrow(deps.scopeRules, client, requested, granted),
      resources: deps.resourceRules.spelled(form.all('resource')),
      provenKey: proofKey,
      bindingKey: (granted) => bindingKey(deps.scopeRules, client, granted, proofKey),
      address: context.clientAddress,
      userAgent: context.userAgent,
      syncsDevices: deps.homeserver.isConnected,
    },
    deps.settings,
    deps.adminRights,
    deps.resourceRules,
    deps.keyRing.deriveAll('refresh-rotation'),
    now,
  );
  if (!outcome.ok) {
    if (outcome.reason === 'client-changed') return outcome.reason;
    const isAboutResources = outcome.reason === 'resource' || outcome.reason === 'mixed-formats';
    const received = isAboutResources ? valuesForLog(form.all('resource')) : undefined;
    throw refusal(deps.log, client, outcome, received);
  }
  deps.activity.recordOAuth2Session(outcome.session.id, now, context.clientAddress, context.userAgent);
  deps.activity.counters.count('tokens_issued', client.id, now);
  // A failing key costs nothing: the retried request gets the same pair of tokens.
  const accessToken = await accessTokenOf(deps, client, outcome);
  return tokenResponse({
    accessToken,
    refreshToken: outcome.pair.refreshToken,
    expiresAt: outcome.accessTokenExpiresAt,
    scope: outcome.scope,
    key: outcome.key,
    idToken: await idTokenOf(deps, client, outcome, accessToken, now),
    now,
  });
}

async function accessTokenOf(
  deps: TokenDeps,
  client: Client,
  { accessTokenExpiresAt, issuedAt, key, pair, resources, scope, session }: Refreshed,
): Promise<string> {
  return await issuedAccessToken(deps, client, {
    ...{ text: pair.accessToken, userId: session.user?.id, target: { key, resources, scope } },
    ...{ issuedAt, expiresAt: accessTokenExpiresAt, authenticatedAt: session.authenticatedAt, acr: session.acr },
    groups: session.user?.facts.groups ?? [],
  });
}

async function idTokenOf(
  deps: TokenDeps,
  client: Client,
  { session, scope }: Refreshed,
  accessToken: string,
  now: number,
): Promise<string | undefined> {
  const { user, authenticatedAt, acr, amr } = session;
  if (user === undefined || session.scope.some((name) => deps.scopeRules.isChat(name))) return undefined;
  return await signIdToken(deps, client, {
    userId: user.id,
    user: user.facts,
    namedClaims: claimsFromJson(session.claims).idToken,
    sessionId: session.id,
    scope,
    authenticatedAt,
    acr,
    amr,
    accessToken,
    now,
  });
}

/**
 * Returns a valid subset of the granted scope, in either spelling, or undefined. Scopes that the authorization request
 * did not get, because they are unknown or not registered for the client, are dropped here too. Many clients repeat the
 * scope of the authorization request.
 */
function narrow(
  rules: ScopeRules,
  client: Client,
  requested: string,
  granted: readonly string[],
): readonly string[] | undefined {
  const scopes = parseScope(requested);
  if (scopes === undefined || rules.setProblem(scopes, client.sector !== undefined) !== undefined) return undefined;
  const others = scopes.filter((scope) => !rules.isCovered([scope], granted));
  if (rules.filterForUser(others, client.scope).length > 0) return undefined;
  return scopes.filter((scope) => !others.includes(scope));
}

type Refused = Extract<RefreshOutcome, { ok: false }>;

function refusal(log: Log, client: Client, refused: Refused, received: string | undefined): LatchkeyError {
  if (refused.reason === 'access-lost') {
    log.info(
      'auth.refused',
      'refresh token refused: the user is no longer in a group that may use the client; the session was ended',
      {
        code: 'access_lost',
        client: client.identifier,
        session: refused.sessionId,
      },
    );
  } else if (refused.reason === 'reuse') {
    log.warn('token.reuse', 'refresh token reused after its successor was used; its session was ended', {
      client: client.identifier,
      session: refused.sessionId,
    });
  } else {
    log.info('auth.refused', 'refresh token refused', {
      code: refused.reason.replaceAll('-', '_'),
      client: client.identifier,
      received,
    });
  }
  switch (refused.reason) {
    case 'key':
      return new LatchkeyError('invalid_dpop_proof', {
        description: 'The session is bound to a key: a DPoP proof with this key is required.',
      });
    case 'scope':
      return new LatchkeyError('invalid_scope', {
        description:
          'The scope exceeds what was granted to the session, or its client API and device scopes do not match.',
      });
    case 'access-lost':
      return new LatchkeyError('invalid_grant', { description: NO_ACCESS });
    case 'mixed-formats':
      return new LatchkeyError('invalid_target', { description: MIXED_FORMATS });
    case 'resource':
      return new LatchkeyError('invalid_target', {
        description: 'The resource was not granted to the session, or none of its scopes applies to the resource.',
      });
    default:
      // The same text for every reason, so that it does not reveal whether a token exists or whose it is.
      return new LatchkeyError('invalid_grant', {
        description: 'The refresh token is unknown, expired, revoked, or was issued to a different client.',
      });
  }
}
