import type { Client } from '#domain/clients/client.ts';
import { logRefusal } from '#oauth-endpoint/refusal-log.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { AuthorizationRequest } from '#protocol/oauth/authorization-parameters.ts';
import type { ReceivedRequest } from '#protocol/oauth/request-checks.ts';
import type { AuthorizationDeps } from './stored-request.ts';

/** Why such a request is rejected, for the log. */
const NOT_OWN_PAGE = 'the admin area requests its tokens itself: silently, by a script of its own page';

/**
 * Rejects requests for the client of the admin area that do not come from its own page (security S-191). No consent page
 * protects this client: another site must not make a browser request its codes, and it needs nothing but a silent
 * request.
 * @throws LatchkeyError `invalid_request`
 */
export function requireOwnPage(
  { log }: AuthorizationDeps,
  { headers, method }: RequestContext,
  client: Client,
  { isPushed, isSigned }: ReceivedRequest,
  { isRedirectUriSent, prompts, resources, scope, target }: AuthorizationRequest,
): void {
  if (client.kind !== 'builtin') return;
  const site = headers['sec-fetch-site'];
  const isOwn =
    (site === undefined || site === 'same-origin') &&
    method === 'GET' &&
    !isPushed &&
    !isSigned &&
    isRedirectUriSent &&
    prompts.includes('none') &&
    scope.length === 1 &&
    resources.length === 0 &&
    target.responseMode === 'query';
  if (isOwn) return;
  const refusal = { code: 'invalid_request', description: NOT_OWN_PAGE } as const;
  logRefusal(log, { ...refusal, client, redirectUri: target.redirectUri });
  throw new LatchkeyError(refusal.code, { description: refusal.description });
}
