/**
 * `POST /oauth2/revoke` (RFC 7009): a client ends its session. A token without a live session gets 200 too, so that a
 * client can retry after a lost response.
 */

import type { Core } from '#domain/core.ts';
import { accessTokenHash } from '#domain/oauth-sessions/access-token-hash.ts';
import { revokeToken } from '#domain/oauth-sessions/revoke.ts';
import { ClientAuthentication } from '#oauth-endpoint/client-authentication.ts';
import { countResult, tokenKindLabel } from '#oauth-endpoint/count-results.ts';
import { readOAuthForm, required } from '#oauth-endpoint/oauth-form.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { metrics } from '#platform/base/metrics.ts';
import { type HttpResponse, noStore } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';

const SINGLE_NAMES = ['token', 'token_type_hint'];
const HINTS = new Set(['access_token', 'refresh_token']);

export function mount(core: Core): Route[] {
  const authentication = new ClientAuthentication(core, '/oauth2/revoke');
  return [
    {
      method: 'POST',
      path: '/oauth2/revoke',
      resource: 'oauth',
      errorFormat: 'oauth-json',
      cors: 'get-post',
      handle: async (context) => {
        const form = await readOAuthForm(context, SINGLE_NAMES);
        const response = authentication.act(context, form, async (client, database) => {
          const token = required(form, 'token');
          // RFC 7009 2.1: a wrong hint does not end the search. The prefix gives the kind anyway.
          const hint = form.get('token_type_hint');
          if (hint !== undefined && !HINTS.has(hint)) {
            throw new LatchkeyError('unsupported_token_type', {
              description: 'token_type_hint must be access_token or refresh_token.',
            });
          }
          const { clientAddress: address, userAgent } = context;
          const syncsDevices = core.homeserver.isConnected;
          const hash = accessTokenHash(core, token);
          const request = { token, accessTokenHash: hash, now: core.clock.now(), address, userAgent, syncsDevices };
          const outcome = await revokeToken(database, client, request);
          if (outcome === 'client-changed') return outcome;
          if (outcome === 'other-client') {
            throw new LatchkeyError('unauthorized_client', {
              description: 'The token was issued to a different client.',
            });
          }
          return done();
        });
        if (metrics === undefined) return await response;
        return await countResult(response, (result) => {
          metrics?.count('latchkey_oauth2_revocations_total', { kind: tokenKindLabel(form.get('token')), result });
        });
      },
    },
  ];
}

function done(): HttpResponse {
  return { status: 200, headers: { ...noStore, pragma: 'no-cache' }, body: '' };
}
