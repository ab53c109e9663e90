import type { Client, TokenExchangeRights } from '#domain/clients/client.ts';
import { readIdTokenHint } from '#domain/keys/id-token-hint.ts';
import { accessTokenHash } from '#domain/oauth-sessions/access-token-hash.ts';
import { type Actor, withActor } from '#domain/oauth-sessions/actor.ts';
import { exchangeToken } from '#domain/oauth-sessions/exchange-token.ts';
import { findSubject, type PresentedSubject, type SubjectRow } from '#domain/oauth-sessions/find-subject-token.ts';
import type { ProofKey } from '#domain/oauth-sessions/proof-key.ts';
import { judgeGrant } from '#domain/policy/judge-grant.ts';
import { type RefusingSetting, refusingSetting } from '#domain/policy/violations.ts';
import { required } from '#oauth-endpoint/oauth-form.ts';
import { type ErrorCode, LatchkeyError } from '#platform/base/errors.ts';
import { fromUuid, parseId, toUuid } from '#platform/base/ids.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import { ACCESS_TOKEN_TYPE, ID_TOKEN_TYPE, TOKEN_EXCHANGE_GRANT_TYPE } from '#protocol/oauth/client-metadata.ts';
import { comparable, MAX_RESOURCES } from '#protocol/oauth/resource-rules.ts';
import { parseScope } from '#protocol/oauth/scopes.ts';
import { valuesForLog } from '#protocol/oauth/uris-in-logs.ts';
import { sortedGroups } from '#protocol/oidc/group-names.ts';
import { type Grant, issuedAccessToken, MIXED_FORMATS, type TokenDeps, tokenResponse } from './grant.ts';

type Subject = SubjectRow & { readonly user_id: string; readonly username: string };

export const tokenExchangeGrant: Grant = {
  parameters: [
    ...['scope', 'subject_token', 'subject_token_type', 'actor_token', 'actor_token_type'],
    'requested_token_type',
  ],
  label: 'token_exchange',
  answer: exchangeForToken,
};

/**
 * RFC 8693: exchanges a user's token for one of the calling client. The new token can do no more and expires no later.
 */
async function exchangeForToken(
  deps: TokenDeps,
  context: RequestContext,
  form: FormParameters,
  client: Client,
  proofKey: ProofKey | undefined,
): Promise<HttpResponse | 'client-changed'> {
  const rights = client.tokenExchange;
  if (rights === undefined) throw new LatchkeyError('unauthorized_client');
  const now = deps.clock.now();
  const requestedType = form.get('requested_token_type');
  if (requestedType !== undefined && requestedType !== ACCESS_TOKEN_TYPE) {
    throw refusal(deps, client, 'requested_token_type', `requested_token_type must be ${ACCESS_TOKEN_TYPE}.`);
  }
  const presented = readSubject(deps, client, form, now);
  const subject = await findSubject(deps.database, client, presented, deps.settings, now);
  if (subject === 'client-changed') return subject;
  requireSubject(deps, client, rights, presented, subject);
  if (subject.dpop_jkt !== null && subject.dpop_jkt !== proofKey?.thumbprint) {
    throw refusal(
      deps,
      client,
      'subject_key',
      'The subject_token is bound to a key: a DPoP proof with this key is required.',
    );
  }
  const actor = await readActor(deps, client, form, rights, {
    before: subject.act ?? undefined,
    provenKey: proofKey,
    now,
  });
  if (actor === 'client-changed') return actor;
  const resources = targetOf(deps, client, form, rights, subject);
  const { scope, sessionScope } = scopeOf(deps, client, form, rights, subject, resources);
  await requirePolicy(deps, context, client, subject, scope);
  await proofKey?.consume();
  const target = { resources, scope, key: proofKey?.thumbprint };
  const { clientAddress: address, userAgent } = context;
  const exchange = { client, subject, actor, target, sessionScope, endsAt: presented.endsAt, address, userAgent };
  const token = await exchangeToken(deps.database, exchange, deps.settings, now);
  if (token === undefined) {
    const again = await findSubject(deps.database, client, presented, deps.settings, now);
    if (again === 'client-changed') return again;
    throw refusal(deps, client, 'subject_token', 'The subject_token is no longer active.');
  }
  deps.activity.recordOAuth2Session(token.sessionId, now, address, userAgent);
  deps.activity.counters.count('tokens_issued', client.id, now);
  deps.log.info('token.exchanged', 'token of a user exchanged by a client', {
    client: client.identifier,
    user: fromUuid(subject.user_id),
    subject_client: fromUuid(subject.client_id),
    session: token.sessionId,
    parent: fromUuid(subject.session_id),
  });
  const { expiresAt } = token;
  const accessToken = await issuedAccessToken(deps, client, {
    ...{ text: token.accessToken, userId: fromUuid(subject.user_id), target, issuedAt: now, expiresAt },
    ...{ authenticatedAt: subject.auth_time ?? undefined, acr: subject.acr ?? undefined, actor },
    groups: sortedGroups(subject.groups ?? []),
  });
  return tokenResponse({ accessToken, expiresAt, scope, key: target.key, issuedTokenType: ACCESS_TOKEN_TYPE, now });
}

/** Returns the presented token before it is looked up. `endsAt` is the expiry of an ID token. */
function readSubject(
  deps: TokenDeps,
  client: Client,
  form: FormParameters,
  now: number,
): PresentedSubject & { readonly endsAt: number } {
  const token = required(form, 'subject_token');
  const type = required(form, 'subject_token_type');
  if (type === ACCESS_TOKEN_TYPE) {
    return { kind: 'access-token', tokenHash: accessTokenHash(deps, token), endsAt: Number.POSITIVE_INFINITY };
  }
  if (type !== ID_TOKEN_TYPE) {
    const description = `subject_token_type must be ${ACCESS_TOKEN_TYPE} or ${ID_TOKEN_TYPE}.`;
    throw refusal(deps, client, 'subject_token_type', description);
  }
  const claims = readIdTokenHint(deps, token);
  const sessionId = parseId<'oauth2-session'>(claims?.sessionId ?? '');
  if (
    claims === undefined ||
    sessionId === undefined ||
    claims.audience !== client.identifier ||
    claims.expiresAt <= now
  ) {
    throw refusal(deps, client, 'subject_token', UNUSABLE_SUBJECT);
  }
  return { kind: 'session', id: toUuid(sessionId), endsAt: claims.expiresAt };
}

/** The same text for every reason, so that it does not reveal which tokens exist. */
const UNUSABLE_SUBJECT = 'This client may not exchange this subject_token.';

function requireSubject(
  deps: TokenDeps,
  client: Client,
  { subjects }: TokenExchangeRights,
  presented: PresentedSubject,
  subject: SubjectRow | undefined,
): asserts subject is Subject {
  const owner = subject === undefined ? undefined : fromUuid<'client'>(subject.client_id);
  const isListed =
    presented.kind === 'session'
      ? owner === client.id
      : owner !== undefined && (subjects.includes('*') || subjects.includes(owner));
  if (!isListed || subject?.user_id == null || subject.username === null) {
    throw refusal(deps, client, 'subject_token', UNUSABLE_SUBJECT);
  }
  if (!subject.caller_admits) throw refusal(deps, client, 'no_access', UNUSABLE_SUBJECT);
}

/** Returns the actor: the client, or the user or client of its actor token. With `impersonation` there is none. */
async function readActor(
  deps: TokenDeps,
  client: Client,
  form: FormParameters,
  { impersonation }: TokenExchangeRights,
  {
    before,
    provenKey: proofKey,
    now,
  }: { readonly before: Actor | undefined; readonly provenKey: ProofKey | undefined; readonly now: number },
): Promise<Actor | 'client-changed' | undefined> {
  const token = form.get('actor_token');
  const type = form.get('actor_token_type');
  if ((token === undefined) !== (type === undefined) || (type !== undefined && type !== ACCESS_TOKEN_TYPE)) {
    const description = `actor_token requires actor_token_type ${ACCESS_TOKEN_TYPE}, and vice versa.`;
    throw refusal(deps, client, 'actor_token', description);
  }
  let userId: string | null = null;
  if (token !== undefined) {
    const presented = { kind: 'access-token', tokenHash: accessTokenHash(deps, token) } as const;
    const found = await findSubject(deps.database, client, presented, deps.settings, now);
    if (found === 'client-changed') return found;
    const isVerified = found?.dpop_jkt === null || found?.dpop_jkt === proofKey?.thumbprint;
    if (found?.caller_admits !== true || !isVerified || fromUuid<'client'>(found.client_id) !== client.id) {
      throw refusal(deps, client, 'actor_token', 'The actor_token is not an active access token of this client.');
    }
    userId = found.user_id;
  }
  if (impersonation) return before;
  const who = { client_id: client.id, ...(userId !== null && { user_id: fromUuid<'user'>(userId) }) };
  const actor = withActor(who, before);
  if (actor === undefined)
    throw refusal(deps, client, 'too_many_actors', 'The token has already been exchanged too many times.');
  return actor;
}

/** Returns the targets of the new token (RFC 8693 2.1). `audience` and `resource` are treated alike. */
function targetOf(
  deps: TokenDeps,
  client: Client,
  form: FormParameters,
  { audiences }: TokenExchangeRights,
  subject: SubjectRow,
): readonly string[] {
  const configured = new Map(audiences.map((audience) => [comparable(audience), audience]));
  const requested = [...form.all('audience'), ...form.all('resource')];
  const targets = [...new Set(requested.map((one) => configured.get(comparable(one))))];
  const known = targets.filter((one) => one !== undefined);
  if (known.length < targets.length || known.length > MAX_RESOURCES) {
    const description = `audience and resource must be at most ${MAX_RESOURCES} of those configured for this client.`;
    throw refusal(deps, client, 'target', description, 'invalid_target', undefined, valuesForLog(requested));
  }
  if (deps.resourceRules.formatOf(known) === 'mixed') {
    throw refusal(deps, client, 'target', MIXED_FORMATS, 'invalid_target', undefined, valuesForLog(requested));
  }
  // A token for specific resource servers must not become a token for all.
  if (known.length === 0 && subject.resources.length > 0) {
    const description = 'The subject_token is for specific resource servers: set audience for the new token.';
    throw refusal(deps, client, 'target', description, 'invalid_target');
  }
  return known;
}

/**
 * Returns the new scope. It never exceeds the subject token's scope or the configuration. The session's scope ignores
 * the requested scope.
 */
function scopeOf(
  { scopeRules, resourceRules, ...deps }: TokenDeps,
  client: Client,
  form: FormParameters,
  { scopes }: TokenExchangeRights,
  subject: SubjectRow,
  resources: readonly string[],
): { readonly scope: readonly string[]; readonly sessionScope: readonly string[] } {
  const mayHave = (scope: string, granted: readonly string[]) =>
    granted.includes(scope) && scopes.includes(scope) && isExchangeable(scopeRules, scope);
  const sessionScope = scopes.filter((scope) => mayHave(scope, subject.session_scope));
  const most = resourceRules.scopeAt(
    resources,
    scopes.filter((scope) => mayHave(scope, subject.scope)),
  );
  const text = form.get('scope');
  if (text === undefined) return { scope: most, sessionScope };
  const requested = parseScope(text);
  if (requested === undefined || !requested.every((scope) => most.includes(scope))) {
    const description = 'The scope exceeds the scope of the subject_token or the scopes that this client may exchange.';
    throw refusal(deps, client, 'scope', description, 'invalid_scope');
  }
  return { scope: requested, sessionScope };
}

/** The configuration allows only these kinds. A scope may have changed its kind since it was granted. */
function isExchangeable(rules: TokenDeps['scopeRules'], scope: string): boolean {
  return rules.isIdentity(scope) || rules.classify(scope) === 'resource';
}

async function requirePolicy(
  deps: TokenDeps,
  context: RequestContext,
  client: Client,
  { user_id, username, can_request_admin }: Subject,
  scope: readonly string[],
): Promise<void> {
  const user = { id: fromUuid<'user'>(user_id), username, canRequestAdmin: can_request_admin === true };
  const refusals = await judgeGrant(deps, { user, client, scope, grantType: TOKEN_EXCHANGE_GRANT_TYPE }, context);
  if (refusals.length === 0) return;
  const description = 'The policy does not allow this requester.';
  throw refusal(deps, client, 'policy', description, 'invalid_request', refusingSetting(refusals));
}

/** RFC 8693 2.2.2. @param reason reason for the operator */
function refusal(
  { log }: Pick<TokenDeps, 'log'>,
  client: Client,
  reason: string,
  description: string,
  code: Extract<ErrorCode, 'invalid_request' | 'invalid_scope' | 'invalid_target'> = 'invalid_request',
  setting?: RefusingSetting,
  received?: string,
): LatchkeyError {
  log.info('auth.refused', 'token exchange refused', {
    code: reason,
    client: client.identifier,
    setting,
    received,
  });
  return new LatchkeyError(code, { description });
}
