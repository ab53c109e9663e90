import type { Client } from '#domain/clients/client.ts';
import type { Core } from '#domain/core.ts';
import { parseId, type UserId } from '#platform/base/ids.ts';
import type { AuthorizationRequest } from '#protocol/oauth/authorization-parameters.ts';
import type { AuthorizationErrorCode } from '#protocol/oauth/authorization-response.ts';

/** `userId`: undefined when whoever signs in may answer. */
export type ExpectedUser =
  | { readonly ok: true; readonly userId: UserId | undefined }
  | { readonly ok: false; readonly error: AuthorizationErrorCode; readonly description: string };

/**
 * The one account that a request is for: the subject of `id_token_hint`, and of `claims`.
 * @see OpenID Connect Core 1.0 3.1.2.1, 3.1.2.2, 5.5.1
 */
export function expectedUser(
  deps: Pick<Core, 'config' | 'signingKeys'>,
  client: Client,
  request: Pick<AuthorizationRequest, 'idTokenHint' | 'subject'>,
): ExpectedUser {
  const { idTokenHint, subject } = request;
  const hinted = idTokenHint === undefined ? undefined : subjectOfHint(deps, client, idTokenHint);
  if (idTokenHint !== undefined && hinted === undefined) {
    const description = 'id_token_hint must be an ID token that was issued here to this client; it may be expired';
    return { ok: false, error: 'invalid_request', description };
  }
  const wanted = hinted ?? subject;
  if (wanted === undefined) return { ok: true, userId: undefined };
  const userId = parseId<'user'>(wanted);
  if (userId === undefined || (hinted !== undefined && subject !== undefined && hinted !== subject)) {
    return { ok: false, error: 'login_required', description: 'no account fits the sub that claims asks for' };
  }
  return { ok: true, userId };
}

function subjectOfHint(deps: Pick<Core, 'config' | 'signingKeys'>, client: Client, hint: string): string | undefined {
  const claims = deps.signingKeys.verifyJwt(hint);
  if (claims === undefined || claims['iss'] !== deps.config.http.issuer || claims['aud'] !== client.id)
    return undefined;
  const { sub } = claims;
  return typeof sub === 'string' ? sub : undefined;
}
