/**
 * `POST /oauth2/registration` (RFC 7591, OpenID Connect Dynamic Client Registration 1.0): an application that nobody
 * configured registers itself. It gets no rights by that: people see that it is not verified when it asks for consent.
 */
import { RequesterPolicy } from '#domain/accounts/registrations/registration-policy.ts';
import { registerClient } from '#domain/clients/register-client.ts';
import type { Core } from '#domain/core.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, json } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import { DEVICE_CODE_GRANT_TYPE, GRANT_TYPES } from '#protocol/oauth/client-metadata.ts';
import { parseBearer } from '#protocol/oauth/presented-credentials.ts';
import { parseRegistration, type RegistrationRules } from '#protocol/oauth/registration-request.ts';
import { registrationResponse } from './registration-response.ts';

interface RegistrationDeps extends Core {
  readonly requesterPolicy: RequesterPolicy;
  readonly rules: Omit<RegistrationRules, 'signingAlgorithms'>;
}

export function mount(core: Core): Route[] {
  const { clientRegistration, requester } = core.config.policy.data;
  const rules = {
    ...clientRegistration,
    grantTypes: GRANT_TYPES.filter(
      (type) => type !== DEVICE_CODE_GRANT_TYPE || core.config.oauth.deviceCodeGrantEnabled,
    ),
  };
  const deps = { ...core, requesterPolicy: new RequesterPolicy(requester), rules };
  return [
    {
      method: 'POST',
      path: '/oauth2/registration',
      resource: 'oauth',
      errorFormat: 'oauth-json',
      cors: 'get-post',
      handle: async (context) => await register(deps, context),
    },
  ];
}

async function register(deps: RegistrationDeps, context: RequestContext): Promise<HttpResponse> {
  const { config, log } = deps;
  if (!config.oauth.dynamicRegistration.enabled) {
    throw new LatchkeyError('registration_closed', { description: 'Clients cannot register themselves here.' });
  }
  requireInitialToken(deps, context);
  const body = requireObject(await context.readJson());
  try {
    refuseBanned(deps, context);
    const metadata = parseRegistration(body, { ...deps.rules, signingAlgorithms: deps.signingKeys.algorithms() });
    const { clientAddress } = context;
    const limiter = config.rateLimiting.clientRegistration.perIp;
    const outcome = await registerClient({ ...deps, limiter }, { body, metadata, clientAddress });
    if (!outcome.ok) throw refusalOf(outcome);
    const { client } = outcome;
    log.info('client.registered', 'an application registered itself', {
      client: client.id,
      method: metadata.token_endpoint_auth_method,
      known: client.isKnown,
    });
    return json(201, registrationResponse(client, metadata), { pragma: 'no-cache' });
  } catch (error) {
    if (error instanceof LatchkeyError) logRefusal(deps, error);
    throw error;
  }
}

function requireObject(body: unknown): object {
  if (body !== null && typeof body === 'object' && !Array.isArray(body)) return body;
  throw new LatchkeyError('invalid_request', { description: 'The body must be a JSON object.' });
}

function requireInitialToken({ config, log }: RegistrationDeps, context: RequestContext): void {
  const expected = config.oauth.dynamicRegistration.initialAccessToken;
  if (expected === undefined) return;
  const bearer = parseBearer(context.headers.authorization);
  const presented = bearer.kind === 'absent' ? '' : bearer.kind === 'token' ? bearer.token : bearer.text;
  if (expected.matches(presented)) return;
  log.info('auth.refused', 'registration of a client refused', { code: 'bad_initial_access_token' });
  throw new LatchkeyError('invalid_token', {
    description: 'Registering needs the initial access token of this service.',
  });
}

function refuseBanned({ requesterPolicy, log }: RegistrationDeps, { clientAddress, userAgent }: RequestContext): void {
  const setting = requesterPolicy.ban(clientAddress, userAgent);
  if (setting === undefined) return;
  log.info('auth.refused', 'a registration by a banned requester', { code: 'banned', setting });
  throw new LatchkeyError('invalid_client_metadata', { description: 'Registration is refused by the policy here.' });
}

function refusalOf(outcome: Exclude<Awaited<ReturnType<typeof registerClient>>, { readonly ok: true }>): LatchkeyError {
  switch (outcome.reason) {
    case 'rate-limited':
      return new LatchkeyError('rate_limited', {
        description: 'Too many clients were registered from this address.',
        retryAfterSeconds: outcome.retryAfterSeconds,
      });
    case 'disabled':
      return new LatchkeyError('registration_closed', { description: 'This client was disabled here.' });
  }
}

/** Says to the operator what the developer of the application is told. */
function logRefusal({ log }: RegistrationDeps, { code, description }: LatchkeyError): void {
  log.info('auth.refused', 'registration of a client refused', { code, reason: description });
}
