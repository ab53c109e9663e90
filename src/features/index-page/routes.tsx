/** `GET /`: sign-in and registration links for visitors; the account and a sign-out button for signed-in users. */
import type { Browser, PageDeps } from '#browser/browser.ts';
import type { Core } from '#domain/core.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import { SignedInPage, VisitorPage } from './index.page.tsx';

export function mount(core: Core, browser: Browser): Route[] {
  const deps = { ...core, ...browser };
  return [
    { method: 'GET', path: '/', resource: 'human', errorFormat: 'page', handle: (context) => showIndex(deps, context) },
  ];
}

async function showIndex(deps: PageDeps, context: RequestContext): Promise<HttpResponse> {
  const { branding, index } = deps.config;
  const viewer = await deps.viewers.read(context);
  if (viewer.kind === 'anonymous' && index.redirect !== undefined) return redirect(index.redirect);
  if (viewer.kind !== 'anonymous' && viewer.kind !== 'active') return deps.interstitials.answer(context, viewer);
  const translations = deps.pages.language(context);
  const props = {
    translations,
    serviceName: branding.serviceName,
    discoveryUrl: branding.showTechnicalInfo ? deps.urls.absolute('.well-known/openid-configuration') : undefined,
  };
  return deps.pages.answer({
    title: translations.t('index.step'),
    translations,
    content:
      viewer.kind === 'active' ? (
        <SignedInPage
          {...props}
          user={viewer.user}
          logoutPath={deps.urls.logout()}
          csrf={deps.csrf.field(context)}
          accountPath={deps.urls.account()}
        />
      ) : (
        <VisitorPage
          {...props}
          loginPath={deps.urls.login()}
          registerPath={deps.registrationMethods.isAnyOpen ? deps.urls.register() : undefined}
        />
      ),
  });
}
