/**
 * Errors that go back to the client although nobody has done anything here yet. Anyone can register a client, so such a
 * redirect would lead wherever a stranger wants (RFC 9700 4.11.2): for these clients a page names the host first.
 */
import type { Client } from '#domain/clients/client.ts';
import { parseUrl } from '#platform/base/url.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import type { AuthorizationErrorCode, ResponseTarget } from '#protocol/oauth/authorization-response.ts';
import { redirectTarget } from '#protocol/oauth/redirect-uris.ts';
import { answerClient, wayBack } from './finish-request.tsx';
import { LeavingPage } from './finished.page.tsx';
import { type AuthorizationDeps, readerLanguage } from './stored-request.ts';

interface Refusal {
  readonly error: AuthorizationErrorCode;
  readonly description: string;
}

/** @param isSilent the answer to a request with `prompt=none` that was right, and needs a page */
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
  const result = { error, description };
  if (client.isStatic || isFromThere(context, target) || (isSilent && !wasClicked(context))) {
    return await answerClient(deps, context, client, target, result, locale);
  }
  const translations = readerLanguage(deps.pages, context, locale);
  const way = await wayBack(deps, client, target, result);
  return deps.pages.answer({
    status: 400,
    title: translations.t('leaving.title'),
    translations,
    formActions: [target.redirectUri],
    // The address has the answer to the client in it.
    headers: { 'referrer-policy': 'no-referrer' },
    content: (
      <LeavingPage
        translations={translations}
        host={redirectTarget(target.redirectUri)}
        error={error}
        wayBack={way}
        homePath={deps.urls.index()}
      />
    ),
  });
}

/** The browser comes from the site to which it goes back: nobody is led anywhere. */
function isFromThere({ headers }: RequestContext, { redirectUri }: ResponseTarget): boolean {
  const from = headers.referer === undefined ? undefined : parseUrl(headers.referer);
  return from !== undefined && /^https?:$/.test(from.protocol) && from.origin === new URL(redirectUri).origin;
}

/**
 * Somebody followed a link of another site. Applications renew silently in a frame or by a script, so that none of their
 * requests has this mark.
 */
function wasClicked({ headers }: RequestContext): boolean {
  const isForeign = headers['sec-fetch-site'] === 'cross-site' || headers['sec-fetch-site'] === 'same-site';
  return isForeign && headers['sec-fetch-user'] === '?1' && headers['sec-fetch-dest'] !== 'iframe';
}
