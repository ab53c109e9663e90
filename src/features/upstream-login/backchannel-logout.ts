import type { Core } from '#domain/core.ts';
import { takeTokens } from '#domain/limits/rate-limits.ts';
import { checkLogoutToken, signOutByProvider } from '#domain/upstream/provider-logout.ts';
import type { UpstreamProvider } from '#domain/upstream/upstream-providers.ts';
import { readOAuthForm, required } from '#oauth-endpoint/oauth-form.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, noStore } from '#platform/http/response.ts';

/**
 * Per provider, and separately for rejected tokens that claim to be for it. Attackers must not use up a provider's
 * limit.
 */
const LIMITER = { burst: 10, perSecond: 10 };
const RETRY_SECONDS = 60;

/** `POST /upstream/backchannel-logout/{id}`: a provider reports that a user signed out there (browser-flows 8.8). */
export async function receiveLogout(core: Core, context: RequestContext): Promise<HttpResponse> {
  const provider = core.upstream.providers.find(context.params['id']);
  if (provider === undefined) throw new LatchkeyError('upstream_provider_not_found');
  const form = await readOAuthForm(context, ['logout_token']);
  const outcome = await checkLogoutToken(core, provider, required(form, 'logout_token'));
  if (!outcome.ok) {
    await charge(core, provider, 'upstream-logout-refused');
    throw refusal(core, provider, outcome);
  }
  await charge(core, provider, 'upstream-logout');
  const { isReplay, browserSessions, applicationSessions } = await signOutByProvider(core, provider, outcome.logout);
  if (isReplay) throw refusal(core, provider, { reason: 'invalid', problem: 'jti was already used' });
  core.log.info('upstream.logout', 'user signed out by a sign-in provider', {
    provider: provider.id,
    mode: provider.onBackchannelLogout,
    sessions: browserSessions,
    applications: applicationSessions,
  });
  return { status: 200, headers: { ...noStore }, body: '' };
}

async function charge(
  core: Core,
  { id }: UpstreamProvider,
  name: 'upstream-logout' | 'upstream-logout-refused',
): Promise<void> {
  const charged = await takeTokens(core.database, core.clock, [{ key: `${name}:${id}`, limiter: LIMITER }]);
  if (!charged.ok) throw new LatchkeyError('rate_limited', { retryAfterSeconds: charged.retryAfterSeconds });
}

function refusal(
  { log }: Core,
  { id }: UpstreamProvider,
  { reason, problem }: { readonly reason: 'invalid' | 'unavailable'; readonly problem: string },
): LatchkeyError {
  log.warn('upstream.failed', 'logout token of a sign-in provider refused', { provider: id, problem });
  return reason === 'unavailable'
    ? new LatchkeyError('temporarily_unavailable', {
        description: 'The keys to verify the logout token cannot be fetched.',
        retryAfterSeconds: RETRY_SECONDS,
      })
    : new LatchkeyError('invalid_request', { description: `The logout token was refused: ${problem}.` });
}
