import { cancelAuthorizationGrant } from '#domain/authorizations/cancel-authorization-grant.ts';
import type { Client } from '#domain/clients/client.ts';
import { isClientCurrent } from '#domain/clients/is-client-current.ts';
import { endOAuth2Session } from '#domain/oauth-sessions/end-oauth2-session.ts';
import { type CodeRefusal, type CodeRow, findCode, judgeCode } from '#domain/oauth-sessions/judge-code.ts';
import type { ProofKey } from '#domain/oauth-sessions/proof-key.ts';
import { redeemAuthorizationCode } from '#domain/oauth-sessions/redeem-authorization-code.ts';
import { judgeGrant } from '#domain/policy/judge-grant.ts';
import { type RefusingSetting, refusingSetting } from '#domain/policy/violations.ts';
import { required } from '#oauth-endpoint/oauth-form.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { fromUuid } from '#platform/base/ids.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import { FAPI2_CODE_SECONDS } from '#protocol/oauth/fapi2.ts';
import { verifierFits } from '#protocol/oauth/pkce.ts';
import { valuesForLog } from '#protocol/oauth/uris-in-logs.ts';
import { claimsFromJson } from '#protocol/oidc/claims-parameter.ts';
import { type Grant, NO_ACCESS, type TokenDeps } from './grant.ts';
import { grantOfUser, isCode, isCurrentAt, redeemGrant } from './redeem-grant.ts';

function codeLifetime({ authorizationCodeTtlSeconds }: TokenDeps['settings'], { isFapi2 }: Client): number {
  return isFapi2 ? Math.min(authorizationCodeTtlSeconds, FAPI2_CODE_SECONDS) : authorizationCodeTtlSeconds;
}

export const authorizationCodeGrant: Grant = {
  parameters: ['code', 'redirect_uri', 'code_verifier'],
  label: 'authorization_code',
  answer: exchangeCode,
};

/** RFC 6749 4.1.3 and OpenID Connect Core 1.0 3.1.3: exchanges a code for a session with its first tokens. */
async function exchangeCode(
  deps: TokenDeps,
  context: RequestContext,
  form: FormParameters,
  client: Client,
  proofKey: ProofKey | undefined,
): Promise<HttpResponse | 'client-changed'> {
  const code = required(form, 'code');
  const now = deps.clock.now();
  const row = isCode(code) ? await findCode(deps.database, client, code) : undefined;
  const isCurrent = await isCurrentAt(deps, client, row, code);
  if (!isCurrent) return 'client-changed';
  const resources = deps.resourceRules.spelled(form.all('resource'));
  const refusals =
    row?.is_own_client !== true ? [] : await judgeGrant(deps, grantOfUser(row, client, 'authorization_code'), context);
  const verdict = judgeCode(
    row,
    {
      redirectUri: form.get('redirect_uri'),
      codeVerifier: form.get('code_verifier'),
      resources,
      thumbprint: proofKey?.thumbprint,
      isBanned: refusals.length > 0,
    },
    { ...deps.redemptionRules, lifetimeSeconds: codeLifetime(deps.settings, client), verifierFits },
    now,
  );
  if (!verdict.ok) {
    const setting = verdict.reason === 'requester-banned' ? refusingSetting(refusals) : undefined;
    const received = verdict.reason === 'resource' ? valuesForLog(form.all('resource')) : undefined;
    await settleRefusal(deps, context, client, row, { reason: verdict.reason, setting, received }, now);
    throw refusal(verdict.reason);
  }
  const outcome = await redeemGrant(deps, context, client, {
    row: verdict.row,
    resources,
    provenKey: proofKey,
    presentedAt: now,
    namedClaims: claimsFromJson(verdict.row.claims).idToken,
    nonce: verdict.row.nonce ?? undefined,
    code,
    redeem: redeemAuthorizationCode,
  });
  if (outcome.ok) return outcome.response;
  if (!(await isClientCurrent(deps.database, client))) return 'client-changed';
  const reason = outcome.reason === 'lost' ? 'redeemed-just-now' : outcome.reason;
  deps.log.info('auth.refused', 'authorization code refused', {
    code: reason.replaceAll('-', '_'),
    client: client.identifier,
    user: fromUuid(verdict.row.user_id),
  });
  throw refusal(reason);
}

/** Handles the effects of a rejected code, apart from the response. A grant that someone tampers with is canceled. */
async function settleRefusal(
  deps: TokenDeps,
  context: RequestContext,
  client: Client,
  row: CodeRow | undefined,
  {
    reason,
    setting,
    received,
  }: {
    readonly reason: CodeRefusal;
    readonly setting: RefusingSetting | undefined;
    readonly received: string | undefined;
  },
  now: number,
): Promise<void> {
  if (row !== undefined && (reason === 'verifier-wrong' || reason === 'sign-in-gone')) {
    await cancelAuthorizationGrant(deps.database, fromUuid(row.grant_id), reason, now);
  }
  const sessionId = row?.oauth2_session_id ?? null;
  if (reason === 'redeemed' && sessionId !== null) {
    const session = fromUuid<'oauth2-session'>(sessionId);
    const { clientAddress: address, userAgent } = context;
    const syncsDevices = deps.homeserver.isConnected;
    await endOAuth2Session(deps.database, session, { reason: 'code_reused', now, address, userAgent, syncsDevices });
    deps.log.warn('token.reuse', 'authorization code reused; its session was ended', {
      client: client.identifier,
      session,
    });
    return;
  }
  deps.log.info('auth.refused', 'authorization code refused', {
    code: reason.replaceAll('-', '_'),
    client: client.identifier,
    setting,
    received,
  });
}

function refusal(reason: CodeRefusal | 'too-many-sessions'): LatchkeyError {
  switch (reason) {
    case 'resource':
      return new LatchkeyError('invalid_target', { description: 'The resource was not granted.' });
    case 'key':
      return new LatchkeyError('invalid_dpop_proof', {
        description: 'The code is bound to a key (dpop_jkt): the DPoP proof must use this key.',
      });
    case 'requester-banned':
      return new LatchkeyError('invalid_grant', { description: 'The policy does not allow this requester.' });
    case 'no-access':
      return new LatchkeyError('invalid_grant', { description: NO_ACCESS });
    case 'too-many-sessions':
      return new LatchkeyError('invalid_grant', { description: 'The user has too many sessions and must end some.' });
    case 'redirect-uri':
      return new LatchkeyError('invalid_grant', {
        description: 'The redirect_uri must match the authorization request.',
      });
    case 'verifier-missing':
    case 'verifier-unexpected':
    case 'verifier-wrong':
      return new LatchkeyError('invalid_grant', {
        description: 'PKCE failed: the code_verifier does not match the authorization request.',
      });
    default:
      return new LatchkeyError('invalid_grant', {
        description: 'The code is unknown, used, expired, or was issued to a different client.',
      });
  }
}
