import type { PageDeps } from '#browser/browser.ts';
import { type LogoutRequest, mayRedirectAfterLogout, openLogoutRequest } from '#browser/logout-request.ts';
import type { Client } from '#domain/clients/client.ts';
import { type IdTokenHint, readIdTokenHint } from '#domain/keys/id-token-hint.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { parseId } from '#platform/base/ids.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import { uriForLog, urisForLog } from '#protocol/oauth/uris-in-logs.ts';

const MAX_STATE_BYTES = 2048;
/** Lifetime of the URL that a posted request redirects to. Forms have the same lifetime. */
const POSTED_LIFETIME_MS = 3_600_000;

/** Must not be repeated (RFC 6749 3.1). Includes `logout_hint`, which has no effect. */
const PARAMETERS = [
  ...['request', 'client_id', 'id_token_hint', 'logout_hint', 'post_logout_redirect_uri', 'state', 'ui_locales'],
];

/**
 * Checks a client's request to sign a user out. A failed check never redirects, because the redirect URI is verified
 * only if all checks pass. Rejections are logged.
 * @throws LatchkeyError `invalid_request`
 * @see OpenID Connect RP-Initiated Logout 1.0 2, 3
 */
export async function checkLogoutRequest(deps: PageDeps, parameters: FormParameters): Promise<LogoutRequest> {
  const repeated = PARAMETERS.find((name) => parameters.isRepeated(name));
  if (repeated !== undefined) throw refusal(deps, parameters, `${repeated} is given more than once`);
  const state = parameters.get('state');
  if (state !== undefined && Buffer.byteLength(state) > MAX_STATE_BYTES) {
    throw refusal(deps, parameters, `state must have at most ${MAX_STATE_BYTES} bytes`);
  }
  const hintText = parameters.get('id_token_hint');
  const hint = hintText === undefined ? undefined : readIdTokenHint(deps, hintText);
  if (hintText !== undefined && hint === undefined) {
    throw refusal(deps, parameters, 'id_token_hint must be an ID token issued by this server; it may be expired');
  }
  const client = await findClient(deps, parameters, hint);
  const redirectUri = parameters.get('post_logout_redirect_uri');
  if (redirectUri !== undefined && client === undefined) {
    throw refusal(deps, parameters, 'post_logout_redirect_uri requires client_id or id_token_hint');
  }
  if (redirectUri !== undefined && client !== undefined && !mayRedirectAfterLogout(client, redirectUri)) {
    throw refusal(deps, parameters, 'post_logout_redirect_uri is not registered for this client', client);
  }
  return { clientId: client?.id, redirectUri, state, oauthSessionId: parseId(hint?.sessionId ?? '') };
}

/** Finds the client that the request identifies by `client_id`, by the hint, or by both, which must then agree. */
async function findClient(
  deps: PageDeps,
  parameters: FormParameters,
  hint: IdTokenHint | undefined,
): Promise<Client | undefined> {
  const given = parameters.get('client_id');
  const named = given ?? hint?.audience;
  if (named === undefined) return undefined;
  const client = await deps.clients.findNamed(named);
  if (client === undefined) {
    throw refusal(
      deps,
      parameters,
      `${given === undefined ? 'id_token_hint' : 'client_id'} does not belong to a known client`,
    );
  }
  if (hint !== undefined && hint.audience !== client.identifier) {
    throw refusal(deps, parameters, 'id_token_hint was issued to a client other than client_id', client);
  }
  return client;
}

/**
 * Opens a posted request that continues here, with the result of its earlier check.
 * @throws LatchkeyError `expired`, and `malformed_request` for a text that was not sealed here
 */
export function openPostedRequest(deps: PageDeps, parameters: FormParameters, sealed: string): LogoutRequest {
  const opened = parameters.isRepeated('request') ? undefined : openLogoutRequest(deps.keyRing, 'posted', sealed);
  if (opened === undefined) throw new LatchkeyError('malformed_request');
  if (deps.clock.now() - opened.sealedAt >= POSTED_LIFETIME_MS) throw new LatchkeyError('expired');
  return opened.request;
}

/** Logs the problem for the operator, who can inform the client's developer. */
function refusal(deps: PageDeps, parameters: FormParameters, description: string, client?: Client): LatchkeyError {
  const redirectUri = parameters.get('post_logout_redirect_uri');
  deps.log.info('auth.refused', 'sign-out request refused', {
    code: 'invalid_request',
    description,
    client: client?.id,
    redirect_uri: redirectUri === undefined ? undefined : uriForLog(redirectUri),
    registered: client === undefined ? undefined : urisForLog(client.postLogoutRedirectUris),
  });
  return new LatchkeyError('invalid_request', { description });
}
