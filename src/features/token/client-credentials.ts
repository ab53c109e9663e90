import type { Client } from '#domain/clients/client.ts';
import { issueTokenToClient } from '#domain/oauth-sessions/issue-client-token.ts';
import { bindingKey, type ProofKey } from '#domain/oauth-sessions/proof-key.ts';
import { judgeGrant } from '#domain/policy/judge-grant.ts';
import { refusingSetting } from '#domain/policy/violations.ts';
import { acceptedResources, refusedResources } from '#oauth-endpoint/oauth-form.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import { parseScope } from '#protocol/oauth/scopes.ts';
import type { Grant, TokenDeps } from './grant.ts';
import { issuedAccessToken, tokenResponse, tokenTarget } from './grant.ts';

export const clientCredentialsGrant: Grant = {
  parameters: ['scope'],
  label: 'client_credentials',
  answer: issueForClient,
};

/** Issues a token to a confidential client for itself (RFC 6749 4.4): no user, no refresh token, no ID token. */
async function issueForClient(
  deps: TokenDeps,
  context: RequestContext,
  form: FormParameters,
  client: Client,
  proofKey: ProofKey | undefined,
): Promise<HttpResponse | 'client-changed'> {
  // RFC 6749 4.4: only confidential clients. A public client has proven nothing.
  if (client.authMethod === 'none') {
    throw new LatchkeyError('unauthorized_client', { description: 'A public client cannot use this grant type.' });
  }
  const requested = form.get('scope');
  const granted = requested === undefined ? [] : grantedScope(deps, client, requested);
  const judged = { user: undefined, client, scope: granted, grantType: 'client_credentials' };
  const refusals = await judgeGrant(deps, judged, context);
  if (refusals.length > 0) {
    deps.log.info('auth.refused', 'client credentials grant refused', {
      code: refusals.some(({ code }) => code === 'requester-banned') ? 'requester_banned' : 'policy',
      client: client.identifier,
      setting: refusingSetting(refusals),
    });
    throw new LatchkeyError('invalid_scope', { description: 'The policy does not allow this requester.' });
  }
  const resources = acceptedResources(deps, form, client);
  // Neither a user nor the operator allowed this client to use them (RFC 8707 2), and some resource servers check only
  // `aud`.
  if (!client.isVouchedFor && deps.resourceRules.shown(resources).length > 0) {
    const description = 'A dynamically registered client cannot get a token for a resource server with this grant.';
    throw refusedResources(deps, client, resources, description);
  }
  const key = bindingKey(deps.scopeRules, client, granted, proofKey);
  const target = tokenTarget(deps, client, { scope: granted, resources }, [], key);
  await proofKey?.consume();
  const now = deps.clock.now();
  const token = await issueTokenToClient(deps.database, client, target, context.userAgent, deps.settings, now);
  if (token === undefined) return 'client-changed';
  deps.activity.recordOAuth2Session(token.sessionId, now, context.clientAddress, context.userAgent);
  deps.activity.counters.count('tokens_issued', client.id, now);
  const { expiresAt } = token;
  const accessToken = await issuedAccessToken(deps, client, {
    ...{ text: token.accessToken, userId: undefined, target, issuedAt: now, expiresAt },
    ...{ authenticatedAt: undefined, acr: undefined, groups: [] },
  });
  return tokenResponse({ accessToken, expiresAt, now, ...target });
}

/** All or nothing: a client never gets less than it requested. */
function grantedScope(deps: TokenDeps, client: Client, requested: string): readonly string[] {
  const scopes = parseScope(requested);
  const granted =
    scopes === undefined
      ? undefined
      : deps.scopeRules.filterForClient(scopes, {
          registered: client.scope,
          mayAdminister: client.sector === undefined && deps.adminRights.mayClientAdminister(client.id),
          isVouchedFor: client.isVouchedFor,
        });
  if (granted === undefined) {
    throw new LatchkeyError('invalid_scope', {
      description: 'One or more of these scopes are not allowed for this client with this grant.',
    });
  }
  return granted;
}
