/**
 * Errors that return to the client before the user has done anything here. Anyone can register a client, so such a
 * redirect would be an open redirector (RFC 9700 4.11.2). For these clients a page names the host first.
 */
import type { Client } from '#domain/clients/client.ts';
import { parseUrl } from '#platform/base/url.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import type { AuthorizationErrorCode, ResponseTarget } from '#protocol/oauth/authorization-response.ts';
import { redirectTarget } from '#protocol/oauth/redirect-uris.ts';
import { respondToClient, returnToClient } from './finish-request.tsx';
import { LeavingPage } from './finished.page.tsx';
import { type AuthorizationDeps, readerLanguage } from './stored-request.ts';

interface Refusal {
  readonly error: AuthorizationErrorCode;
  readonly description: string;
}

/** @param isSilent the request was valid and had `prompt=none`, but needs a page */
export async function refuseClient(
  deps: AuthorizationDeps,
  context: RequestContext,
  {
    client,
    target,
    isSilent,
  }: { readonly client: Client; readonly target: ResponseTarget; readonly isSilent: boolean },
  { error, description }: Refusal,
  locale: string | undefined,
): Promise<HttpResponse> {
  const result = { kind: 'error', error, description } as const;
  if (client.isVouchedFor || isFromThere(context, target) || (isSilent && !wasClicked(context))) {
    return await respondToClient(deps, context, client, target, result, locale);
  }
  const translations = readerLanguage(deps.pages, context, locale);
  const way = await returnToClient(deps, client, target, result);
  return deps.pages.answer({
    status: 400,
    title: translations.t('leaving.title'),
    translations,
    formActions: [target.redirectUri],
    // The URL contains the response to the client.
    headers: { 'referrer-policy': 'no-referrer' },
    content: (
      <LeavingPage
        translations={translations}
        host={redirectTarget(target.redirectUri)}
        error={error}
        returnToClient={way}
        homePath={deps.urls.index()}
      />
    ),
  });
}

/** Tests whether the browser came from the site that it returns to. Then it is not an open redirect. */
function isFromThere({ headers }: RequestContext, { redirectUri }: ResponseTarget): boolean {
  const from = headers.referer === undefined ? undefined : parseUrl(headers.referer);
  return from !== undefined && /^https?:$/.test(from.protocol) && from.origin === new URL(redirectUri).origin;
}

/**
 * Tests whether the user followed a link from another site. Applications renew silently in a frame or by script, whose
 * requests do not have this mark.
 */
function wasClicked({ headers }: RequestContext): boolean {
  const isForeign = headers['sec-fetch-site'] === 'cross-site' || headers['sec-fetch-site'] === 'same-site';
  return isForeign && headers['sec-fetch-user'] === '?1' && headers['sec-fetch-dest'] !== 'iframe';
}
