/**
 * `POST /oauth2/token` (RFC 6749 3.2): one file per grant type. This file authenticates the client, then checks that it
 * may use the grant type (oauth 8.1). Codes and sessions are left to `domain`.
 */
import type { Client } from '#domain/clients/client.ts';
import type { Core } from '#domain/core.ts';
import type { ProvenKey } from '#domain/oauth-sessions/proven-key.ts';
import { ClientAuthentication } from '#oauth-endpoint/client-authentication.ts';
import { countResult, type OAuthResult } from '#oauth-endpoint/count-results.ts';
import { DpopProofs } from '#oauth-endpoint/dpop-proofs.ts';
import { readOAuthForm, required } from '#oauth-endpoint/oauth-form.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { metrics } from '#platform/base/metrics.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import {
  DEVICE_CODE_GRANT_TYPE,
  GRANT_TYPES,
  type GrantType,
  TOKEN_EXCHANGE_GRANT_TYPE,
} from '#protocol/oauth/client-metadata.ts';
import { exchangeCode } from './authorization-code.ts';
import { issueForClient } from './client-credentials.ts';
import { exchangeDeviceCode } from './device-code.ts';
import { type TokenDeps, tokenDeps } from './grant.ts';
import { refreshTokens } from './refresh-token.ts';
import { exchangeForToken } from './token-exchange.ts';

/** Parameters other than the client's credentials, which `ClientAuthentication` reads. */
const SINGLE_NAMES = [
  ...['grant_type', 'code', 'redirect_uri', 'code_verifier', 'device_code', 'refresh_token', 'scope'],
  ...['subject_token', 'subject_token_type', 'actor_token', 'actor_token_type', 'requested_token_type'],
];

const PATH = 'oauth2/token';

type Grant = (
  deps: TokenDeps,
  context: RequestContext,
  form: FormParameters,
  client: Client,
  provenKey: ProvenKey | undefined,
) => Promise<HttpResponse | 'client-changed'>;

const GRANT_OF_TYPE: Readonly<Record<GrantType, Grant>> = {
  authorization_code: exchangeCode,
  refresh_token: refreshTokens,
  client_credentials: issueForClient,
  [DEVICE_CODE_GRANT_TYPE]: exchangeDeviceCode,
};
const GRANTS: ReadonlyMap<string, Grant> = new Map(Object.entries(GRANT_OF_TYPE));

export function mount(core: Core): Route[] {
  const deps = tokenDeps(core);
  const authentication = new ClientAuthentication(core, `/${PATH}`);
  const proofs = new DpopProofs(core);
  return [
    {
      method: 'POST',
      path: `/${PATH}`,
      resource: 'oauth',
      errorFormat: 'oauth-json',
      cors: 'get-post',
      handle: async (context) => {
        const form = await readOAuthForm(context, SINGLE_NAMES);
        const answer = authentication.act(context, form, async (client, database) => {
          const grant = grantOf(core, form, client);
          const provenKey = await proofs.ofTokenRequest(context, PATH, client);
          const answer = await grant(
            database === core.database ? deps : { ...deps, database },
            context,
            form,
            client,
            provenKey,
          );
          return provenKey === undefined || answer === 'client-changed' ? answer : proofs.withNonce(answer);
        });
        return await (metrics === undefined ? answer : countResult(answer, (result) => countRequest(form, result)));
      },
    },
  ];
}

function countRequest(form: FormParameters, result: OAuthResult): void {
  const grantType = form.get('grant_type');
  const label = labelOf(grantType);
  metrics?.count('latchkey_oauth2_token_requests_total', { grant_type: label, result });
}

function labelOf(grantType: string | undefined) {
  if (grantType === DEVICE_CODE_GRANT_TYPE) return 'device_code';
  if (grantType === TOKEN_EXCHANGE_GRANT_TYPE) return 'token_exchange';
  return GRANT_TYPES.find((type) => type === grantType) ?? 'other';
}

function grantOf({ config }: Core, form: FormParameters, client: Client): Grant {
  const grantType = required(form, 'grant_type');
  // Clients cannot register this grant type. Only the operator's configuration grants it.
  const isExchange =
    grantType === TOKEN_EXCHANGE_GRANT_TYPE && config.clients.some((one) => one.tokenExchange !== undefined);
  const grant = isExchange ? exchangeForToken : GRANTS.get(grantType);
  const isOff = grantType === DEVICE_CODE_GRANT_TYPE && !config.oauth.deviceCodeGrantEnabled;
  if (grant === undefined || isOff) {
    throw new LatchkeyError('unsupported_grant_type', { description: 'This grant type is not supported.' });
  }
  if (isExchange ? client.tokenExchange === undefined : !client.grantTypes.includes(grantType)) {
    throw new LatchkeyError('unauthorized_client', {
      description: 'The client is not registered for this grant type.',
    });
  }
  return grant;
}
