import type { PageDeps } from '#browser/browser.ts';
import { type LogoutRequest, mayRedirectAfterLogout, openLogoutRequest } from '#browser/logout-request.ts';
import type { Client } from '#domain/clients/client.ts';
import { type IdTokenHint, readIdTokenHint } from '#domain/signing-keys/id-token-hint.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { parseId } from '#platform/base/ids.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import { uriForLog, urisForLog } from '#protocol/oauth/uris-in-logs.ts';

const MAX_STATE_BYTES = 2048;
/** How long the address that a posted request leads to works: as long as a form. */
const POSTED_LIFETIME_MS = 3_600_000;

/** May be given once only (RFC 6749 3.1), also `logout_hint`, which changes nothing. */
const PARAMETERS = [
  ...['request', 'client_id', 'id_token_hint', 'logout_hint', 'post_logout_redirect_uri', 'state', 'ui_locales'],
];

/**
 * Checks a client's request to sign a person out. Nothing that fails here is redirected: the address is proven only
 * when everything fits. Refusals are logged.
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
    throw refusal(deps, parameters, 'id_token_hint must be an ID token that was issued here; it may be expired');
  }
  const client = await findClient(deps, parameters, hint);
  const redirectUri = parameters.get('post_logout_redirect_uri');
  if (redirectUri !== undefined && client === undefined) {
    throw refusal(deps, parameters, 'post_logout_redirect_uri needs client_id or id_token_hint');
  }
  if (redirectUri !== undefined && client !== undefined && !mayRedirectAfterLogout(client, redirectUri)) {
    throw refusal(deps, parameters, 'post_logout_redirect_uri is not registered for this client', client);
  }
  return { clientId: client?.id, redirectUri, state, oauthSessionId: parseId(hint?.sessionId ?? '') };
}

/** The client that the request names by `client_id`, by the hint or by both, which then have to agree. */
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
    throw refusal(deps, parameters, `${given === undefined ? 'id_token_hint' : 'client_id'} names no client here`);
  }
  if (hint !== undefined && hint.audience !== client.identifier) {
    throw refusal(deps, parameters, 'id_token_hint was issued to another client than client_id names', client);
  }
  return client;
}

/**
 * The request that was posted and is continued here, as it was checked then.
 * @throws LatchkeyError `expired`, and `malformed_request` for a text that was not sealed here
 */
export function openPostedRequest(deps: PageDeps, parameters: FormParameters, sealed: string): LogoutRequest {
  const opened = parameters.isRepeated('request') ? undefined : openLogoutRequest(deps.keyRing, 'posted', sealed);
  if (opened === undefined) throw new LatchkeyError('malformed_request');
  if (deps.clock.now() - opened.sealedAt >= POSTED_LIFETIME_MS) throw new LatchkeyError('expired');
  return opened.request;
}

/** Tells the operator, and through them the developer of the client, what was wrong. */
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
