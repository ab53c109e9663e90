import type { PageDeps } from '#browser/browser.ts';
import {
  createDeviceCodeGrant,
  FIRST_INTERVAL_SECONDS,
  type NewDeviceCodeGrant,
} from '#domain/authorizations/create-device-code-grant.ts';
import type { Client } from '#domain/clients/client.ts';
import type { ClientAuthentication } from '#oauth-endpoint/client-authentication.ts';
import { acceptedResources, readOAuthForm } from '#oauth-endpoint/oauth-form.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, json } from '#platform/http/response.ts';
import type { Database } from '#platform/postgres/database.ts';
import { DEVICE_CODE_GRANT_TYPE } from '#protocol/oauth/client-metadata.ts';
import { parseScope, UNBOUND_SCOPE } from '#protocol/oauth/scopes.ts';
import { formatUserCode } from '#protocol/oauth/user-code.ts';

type DeviceAuthorizationDeps = PageDeps & { readonly authentication: ClientAuthentication };

/** `POST /oauth2/device` (RFC 8628 3.1 and 3.2). */
export async function authorizeDevice(deps: DeviceAuthorizationDeps, context: RequestContext): Promise<HttpResponse> {
  const form = await readOAuthForm(context, ['scope']);
  if (!deps.config.oauth.deviceCodeGrantEnabled) {
    throw new LatchkeyError('invalid_request', { description: 'The device authorization grant is disabled.' });
  }
  return await deps.authentication.act(context, form, async (client, database) => {
    if (!client.grantTypes.includes(DEVICE_CODE_GRANT_TYPE)) {
      throw new LatchkeyError('unauthorized_client', {
        description: 'The client is not registered for the device grant.',
      });
    }
    const resources = acceptedResources(deps, form, client);
    const requested = form.get('scope') ?? (client.scope ?? deps.resourceRules.defaultScope(resources))?.join(' ');
    const scope = requested === undefined ? [] : acceptedScope(deps, client, requested);
    return await issueCodes(deps, database, context, { client, scope, resources });
  });
}

async function issueCodes(
  deps: DeviceAuthorizationDeps,
  database: Database,
  context: RequestContext,
  request: Pick<NewDeviceCodeGrant, 'client' | 'scope' | 'resources'>,
): Promise<HttpResponse | 'client-changed'> {
  const { config, log, urls } = deps;
  const { deviceCodeTtlSeconds, deviceCodeUserCodeAutoFillEnabled } = config.oauth;
  const created = await createDeviceCodeGrant(
    { ...deps, database, limiter: config.rateLimiting.deviceAuthorization.perClient },
    {
      ...request,
      address: context.clientAddress,
      userAgent: context.userAgent,
      now: deps.clock.now(),
      lifetimeSeconds: deviceCodeTtlSeconds,
    },
  );
  if (!created.ok) {
    if (created.reason === 'client-changed') return created.reason;
    log.info('auth.refused', 'too many device authorization requests', {
      code: 'rate_limited',
      client: request.client.identifier,
    });
    throw new LatchkeyError('rate_limited', {
      description: 'Too many device authorization requests from this address.',
      retryAfterSeconds: created.retryAfterSeconds,
    });
  }
  const userCode = formatUserCode(created.userCode);
  const complete = new URL(urls.link(userCode), urls.base).href;
  return json(
    200,
    {
      device_code: created.deviceCode,
      user_code: userCode,
      verification_uri: urls.absolute('link'),
      ...(deviceCodeUserCodeAutoFillEnabled && { verification_uri_complete: complete }),
      expires_in: deviceCodeTtlSeconds,
      interval: FIRST_INTERVAL_SECONDS,
    },
    { pragma: 'no-cache' },
  );
}

/** Returns the part of the scope that is allowed before the user is known (oauth 14.2). */
function acceptedScope({ scopeRules }: DeviceAuthorizationDeps, client: Client, requested: string): readonly string[] {
  const scopes = parseScope(requested);
  const problem =
    scopes === undefined
      ? 'the scope is malformed or too long'
      : scopeRules.setProblem(scopes, client.sector !== undefined);
  const kept = scopeRules.filterForUser(scopes ?? [], client.scope);
  if (problem !== undefined) throw new LatchkeyError('invalid_scope', { description: problem });
  if (kept.length === 0) {
    throw new LatchkeyError('invalid_scope', {
      description: 'none of the requested scopes is known and allowed for this client',
    });
  }
  if (client.hasBoundTokens && scopeRules.hasUnboundScope(kept)) {
    throw new LatchkeyError('invalid_scope', { description: UNBOUND_SCOPE });
  }
  return kept;
}
