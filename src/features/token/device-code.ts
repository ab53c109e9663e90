import { type DeviceCodeRefusal, judgeDeviceCode, pollDeviceCode } from '#domain/authorizations/poll-device-code.ts';
import type { Client } from '#domain/clients/client.ts';
import type { ProofKey } from '#domain/oauth-sessions/proof-key.ts';
import { redeemDeviceCode } from '#domain/oauth-sessions/redeem-device-code.ts';
import { judgeGrant } from '#domain/policy/judge-grant.ts';
import { type RefusingSetting, refusingSetting } from '#domain/policy/violations.ts';
import { required } from '#oauth-endpoint/oauth-form.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import { DEVICE_CODE_GRANT_TYPE } from '#protocol/oauth/client-metadata.ts';
import { valuesForLog } from '#protocol/oauth/uris-in-logs.ts';
import { type Grant, NO_ACCESS, type TokenDeps } from './grant.ts';
import { grantOfUser, isCode, isCurrentAt, redeemGrant } from './redeem-grant.ts';

export const deviceCodeGrant: Grant = {
  parameters: ['device_code'],
  label: 'device_code',
  answer: exchangeDeviceCode,
};

/** RFC 8628 3.4 and 3.5: handles a device's poll. After the user's approval, the poll opens a session. */
async function exchangeDeviceCode(
  deps: TokenDeps,
  context: RequestContext,
  form: FormParameters,
  client: Client,
  proofKey: ProofKey | undefined,
): Promise<HttpResponse | 'client-changed'> {
  const deviceCode = required(form, 'device_code');
  const now = deps.clock.now();
  const polled = isCode(deviceCode) ? await pollDeviceCode(deps.database, client, deviceCode, now) : undefined;
  const isCurrent = await isCurrentAt(deps, client, polled, deviceCode);
  if (!isCurrent) return 'client-changed';
  const resources = deps.resourceRules.spelled(form.all('resource'));
  // The policy judges the user, so it is not asked before a user has decided.
  const refusals =
    polled?.is_own_client !== true || polled.user_id === null
      ? []
      : await judgeGrant(deps, grantOfUser(polled, client, DEVICE_CODE_GRANT_TYPE), context);
  const bannedBy = refusingSetting(refusals);
  const request = { resources, isBanned: bannedBy !== undefined };
  const verdict = judgeDeviceCode(polled, request, deps.redemptionRules, now);
  if (!verdict.ok) {
    const received = verdict.reason === 'resource' ? valuesForLog(form.all('resource')) : undefined;
    throw refusal(deps, client, verdict.reason, bannedBy, received);
  }
  const outcome = await redeemGrant(deps, context, client, {
    row: verdict.row,
    resources,
    provenKey: proofKey,
    presentedAt: now,
    namedClaims: [],
    redeem: redeemDeviceCode,
  });
  if (outcome.ok) return outcome.response;
  // Another poll was faster, or the user or the client changed after the verdict. The grant is judged once more.
  const later = await pollDeviceCode(deps.database, client, deviceCode, now);
  const isStillCurrent = await isCurrentAt(deps, client, later, deviceCode);
  if (!isStillCurrent) return 'client-changed';
  const laterVerdict = judgeDeviceCode(later, request, deps.redemptionRules, now);
  const reason = outcome.reason === 'lost' ? 'exchanged' : outcome.reason;
  throw refusal(deps, client, laterVerdict.ok ? reason : laterVerdict.reason);
}

function refusal(
  deps: TokenDeps,
  client: Client,
  reason: DeviceCodeRefusal | 'too-many-sessions',
  bannedBy?: RefusingSetting,
  received?: string,
): LatchkeyError {
  switch (reason) {
    // A pending device is normal, and would fill the log.
    case 'pending':
      return new LatchkeyError('authorization_pending', {
        description: 'The user has not decided yet. Continue polling after the interval.',
      });
    case 'too-early':
      return new LatchkeyError('slow_down', {
        description: 'Polled before the interval ended: increase it by 5 seconds.',
      });
    default:
      deps.log.info('auth.refused', 'device code refused', {
        code: reason.replaceAll('-', '_'),
        client: client.identifier,
        setting: reason === 'requester-banned' ? bannedBy : undefined,
        received,
      });
      return finalRefusal(reason);
  }
}

function finalRefusal(
  reason: Exclude<DeviceCodeRefusal, 'pending' | 'too-early'> | 'too-many-sessions',
): LatchkeyError {
  switch (reason) {
    case 'expired':
      return new LatchkeyError('expired_token', { description: 'The device code has expired. Request a new one.' });
    case 'rejected':
      return new LatchkeyError('access_denied', { description: 'The user denied the request.' });
    case 'sign-in-gone':
      return new LatchkeyError('access_denied', {
        description: 'The user who approved the request is no longer signed in.',
      });
    case 'requester-banned':
      return new LatchkeyError('access_denied', { description: 'The policy does not allow this requester.' });
    case 'no-access':
      return new LatchkeyError('access_denied', { description: NO_ACCESS });
    case 'too-many-sessions':
      return new LatchkeyError('access_denied', { description: 'The user has too many sessions and must end some.' });
    case 'admin-scope':
      return new LatchkeyError('access_denied', { description: 'The user may no longer grant an admin scope.' });
    case 'resource':
      return new LatchkeyError('invalid_target', { description: 'The resource was not granted.' });
    case 'unknown':
    case 'other-client':
    case 'exchanged':
      return new LatchkeyError('invalid_grant', {
        description: 'The device code is unknown, used, or was issued to a different client.',
      });
  }
}
