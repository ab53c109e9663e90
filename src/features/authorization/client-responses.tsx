import type { PageDeps } from '#browser/browser.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import {
  type AuthorizationResult,
  type ResponseTarget,
  responseFields,
  responseLocation,
} from '#protocol/oauth/authorization-response.ts';
import { FormPostPage } from './finished.page.tsx';
import { readerLanguage } from './reader-language.ts';

/**
 * The response to the client: a redirect, or the page that posts it (oauth 6.4). The address carries a code or an
 * error of its own, so it reaches neither a cache nor a `Referer`.
 * @param locale language of the page, if the client asked for one
 */
export function answerClient(
  deps: PageDeps,
  context: Pick<RequestContext, 'headers' | 'cookies'>,
  target: ResponseTarget,
  result: AuthorizationResult,
  locale?: string,
): HttpResponse {
  if (target.responseMode !== 'form_post') {
    return redirect(responseLocation(target, deps.config.http.issuer, result), { 'referrer-policy': 'no-referrer' });
  }
  const translations = readerLanguage(deps.pages, context, locale);
  return deps.pages.answer({
    title: translations.t('form_post.title'),
    translations,
    formTarget: target.redirectUri,
    // Not `no-referrer`, with which browsers would post with `Origin: null`.
    headers: { 'referrer-policy': 'strict-origin' },
    content: (
      <FormPostPage
        translations={translations}
        redirectUri={target.redirectUri}
        fields={responseFields(target, deps.config.http.issuer, result)}
      />
    ),
  });
}
