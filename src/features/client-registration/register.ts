import { type RegistrationOutcome, registerClient } from '#domain/clients/register-client.ts';
import { acceptMetadata } from '#oauth-endpoint/accept-metadata.ts';
import { requireSectorMember } from '#oauth-endpoint/sector-identifier.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, json } from '#platform/http/response.ts';
import { parseBearer } from '#protocol/oauth/presented-credentials.ts';
import { logRefusal, type RegistrationDeps, readObject } from './registration.ts';
import { registrationResponse } from './registration-response.ts';

export async function register(deps: RegistrationDeps, context: RequestContext): Promise<HttpResponse> {
  const { config, log, urls } = deps;
  if (!config.oauth.dynamicRegistration.enabled) {
    const setting = 'oauth.dynamic_registration.enabled';
    log.info('auth.refused', 'client registration refused', { code: 'registration_closed', setting });
    throw new LatchkeyError('registration_closed', {
      description: `Dynamic client registration is disabled (${setting} is off).`,
    });
  }
  requireInitialToken(deps, context);
  const body = await readObject(context);
  return await logRefusal(deps, async () => {
    const metadata = await acceptMetadata(deps, context, body);
    const { clientAddress } = context;
    await requireSectorMember(deps, metadata, clientAddress);
    const limiter = config.rateLimiting.clientRegistration.perIp;
    const outcome = await registerClient({ ...deps, limiter }, { body, metadata, clientAddress });
    if (!outcome.ok) throw refusalOf(outcome);
    const { client } = outcome;
    log.info('client.registered', 'client registered', {
      client: client.id,
      method: metadata.token_endpoint_auth_method,
      known: client.isKnown,
    });
    const response = registrationResponse({ ...client, metadata }, client.managementToken?.reveal(), urls);
    return json(201, response, { pragma: 'no-cache' });
  });
}

function requireInitialToken({ config, log }: RegistrationDeps, context: RequestContext): void {
  const expected = config.oauth.dynamicRegistration.initialAccessToken;
  if (expected === undefined) return;
  const bearer = parseBearer(context.headers.authorization);
  const presented = bearer.kind === 'absent' ? '' : bearer.kind === 'token' ? bearer.token : bearer.text;
  if (expected.matches(presented)) return;
  const setting = 'oauth.dynamic_registration.initial_access_token';
  log.info('auth.refused', 'client registration refused', { code: 'bad_initial_access_token', setting });
  throw new LatchkeyError('invalid_token', {
    description: `Registration requires the initial access token of this server (${setting}).`,
  });
}

function refusalOf(outcome: Exclude<RegistrationOutcome, { readonly ok: true }>): LatchkeyError {
  switch (outcome.reason) {
    case 'rate-limited':
      return new LatchkeyError('rate_limited', {
        description: 'Too many clients were registered from this address.',
        retryAfterSeconds: outcome.retryAfterSeconds,
      });
    case 'disabled':
      return new LatchkeyError('registration_closed', { description: 'This client is disabled.' });
  }
}
