/** The front door, `GET /`: the way in for a visitor, the way out for someone who is signed in. */

import type { Csrf } from '#browser/csrf.ts';
import type { Interstitials } from '#browser/interstitials.tsx';
import type { Pages } from '#browser/pages.ts';
import type { Urls } from '#browser/urls.ts';
import type { Viewers } from '#browser/viewer.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import { SignedInPage, VisitorPage } from './index.page.tsx';

export interface IndexPageDeps {
  readonly urls: Urls;
  readonly pages: Pages;
  readonly csrf: Csrf;
  readonly viewers: Viewers;
  readonly interstitials: Interstitials;
  readonly serviceName: string;
  /** Where visitors who are not signed in are sent instead. */
  readonly redirect: string | undefined;
  /** The line with the address of the discovery document. */
  readonly showsTechnicalInfo: boolean;
  /** People may make accounts for themselves. */
  readonly isRegistrationOpen: boolean;
}

export function mount(deps: IndexPageDeps): Route[] {
  return [
    { method: 'GET', path: '/', resource: 'human', errorFormat: 'page', handle: (context) => showIndex(deps, context) },
  ];
}

async function showIndex(deps: IndexPageDeps, context: RequestContext): Promise<HttpResponse> {
  const viewer = await deps.viewers.read(context);
  if (viewer.kind === 'anonymous' && deps.redirect !== undefined) return redirect(deps.redirect);
  if (viewer.kind !== 'anonymous' && viewer.kind !== 'active') return deps.interstitials.answer(context, viewer);
  const translations = deps.pages.language(context);
  const props = {
    translations,
    serviceName: deps.serviceName,
    discoveryUrl: deps.showsTechnicalInfo ? deps.urls.absolute('.well-known/openid-configuration') : undefined,
  };
  return deps.pages.answer({
    title: translations.t('index.step'),
    translations,
    content:
      viewer.kind === 'active' ? (
        <SignedInPage {...props} user={viewer.user} logoutPath={deps.urls.logout()} csrf={deps.csrf.field(context)} />
      ) : (
        <VisitorPage
          {...props}
          loginPath={deps.urls.login()}
          registerPath={deps.isRegistrationOpen ? deps.urls.register() : undefined}
        />
      ),
  });
}
