/**
 * `POST /oauth2/token` (RFC 6749 3.2): one file per grant type. This file authenticates the client, then checks that it
 * may use the grant type (oauth 8.1). Codes and sessions are left to `domain`.
 */
import type { Client } from '#domain/clients/client.ts';
import { offeredGrantTypes } from '#domain/clients/offered-grant-types.ts';
import type { Core } from '#domain/core.ts';
import { ClientAuthentication } from '#oauth-endpoint/client-authentication.ts';
import { countResult, type OAuthResult } from '#oauth-endpoint/count-results.ts';
import { DpopProofs } from '#oauth-endpoint/dpop-proofs.ts';
import { readOAuthForm, required } from '#oauth-endpoint/oauth-form.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { metrics } from '#platform/base/metrics.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { Route } from '#platform/http/route.ts';
import {
  DEVICE_CODE_GRANT_TYPE,
  GRANT_TYPES,
  type GrantType,
  TOKEN_EXCHANGE_GRANT_TYPE,
} from '#protocol/oauth/client-metadata.ts';
import { authorizationCodeGrant } from './authorization-code.ts';
import { clientCredentialsGrant } from './client-credentials.ts';
import { deviceCodeGrant } from './device-code.ts';
import { type Grant, type GrantTypeLabel, tokenDeps } from './grant.ts';
import { refreshTokenGrant } from './refresh-token.ts';
import { tokenExchangeGrant } from './token-exchange.ts';

const PATH = 'oauth2/token';

const GRANT_OF_TYPE: Readonly<Record<GrantType, Grant>> = {
  authorization_code: authorizationCodeGrant,
  [DEVICE_CODE_GRANT_TYPE]: deviceCodeGrant,
  refresh_token: refreshTokenGrant,
  client_credentials: clientCredentialsGrant,
  [TOKEN_EXCHANGE_GRANT_TYPE]: tokenExchangeGrant,
};

/** Parameters other than the client's credentials, which `ClientAuthentication` reads. */
const SINGLE_NAMES = [
  ...new Set(['grant_type', ...Object.values(GRANT_OF_TYPE).flatMap(({ parameters }) => parameters)]),
];

const LABELS: ReadonlyMap<string | undefined, GrantTypeLabel> = new Map(
  GRANT_TYPES.map((type) => [type, GRANT_OF_TYPE[type].label]),
);

type Grants = ReadonlyMap<string, Grant>;

export function mount(core: Core): Route[] {
  const deps = tokenDeps(core);
  const authentication = new ClientAuthentication(core, `/${PATH}`);
  const proofs = new DpopProofs(core);
  const offered: Grants = new Map(
    offeredGrantTypes(core.config, GRANT_TYPES).map((type) => [type, GRANT_OF_TYPE[type]]),
  );
  return [
    {
      method: 'POST',
      path: `/${PATH}`,
      resource: 'oauth',
      errorFormat: 'oauth-json',
      cors: 'get-post',
      handle: async (context) => {
        const form = await readOAuthForm(context, SINGLE_NAMES);
        const response = authentication.act(context, form, async (client, database) => {
          const grant = grantOf(offered, form, client);
          const proofKey = await proofs.ofTokenRequest(context, PATH, client);
          const result = await grant.answer(
            database === core.database ? deps : { ...deps, database },
            context,
            form,
            client,
            proofKey,
          );
          return proofKey === undefined || result === 'client-changed' ? result : proofs.withNonce(result);
        });
        return await (metrics === undefined ? response : countResult(response, (result) => countRequest(form, result)));
      },
    },
  ];
}

function countRequest(form: FormParameters, result: OAuthResult): void {
  const label = LABELS.get(form.get('grant_type')) ?? 'other';
  metrics?.count('latchkey_oauth2_token_requests_total', { grant_type: label, result });
}

function grantOf(offered: Grants, form: FormParameters, client: Client): Grant {
  const grantType = required(form, 'grant_type');
  const grant = offered.get(grantType);
  if (grant === undefined) {
    throw new LatchkeyError('unsupported_grant_type', { description: 'This grant type is not supported.' });
  }
  if (!client.grantTypes.includes(grantType)) {
    throw new LatchkeyError('unauthorized_client', {
      description: 'The client is not registered for this grant type.',
    });
  }
  return grant;
}
