/**
 * The account area (account-graphql 8): one page for every path below `/account/`. Its script shows what the path
 * stands for, with data from `/graphql`.
 *
 * - `GET /account`: redirects to `/account/`
 * - `GET /account/`, `GET /account/{rest}`: the page for signed-in users; other users are redirected to the sign-in
 *   page
 * - `GET /account/password/recovery?ticket=`: the page for every visitor; recovery emails link to it (browser-flows
 *   7.3)
 * - `GET /.well-known/change-password`: where password managers look for the page that changes a password (oauth 2.3)
 *
 * The page contains no data about the user. All data comes from `/graphql`, which authorizes each request separately.
 */
import { areaFiles } from '#browser/area-document.tsx';
import { hasDotSegment } from '#browser/area-path.ts';
import type { Browser, PageDeps } from '#browser/browser.ts';
import { captchaFrames } from '#browser/captcha.ts';
import { originSource } from '#browser/page-headers.ts';
import type { Core } from '#domain/core.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import { type AreaParts, renderArea } from './area.page.tsx';
import { isCrossSigningReset, loginHint, signInAction, type WantedPage } from './sign-in-target.ts';

type Deps = PageDeps & { readonly parts: AreaParts };

export function mount(core: Core, browser: Browser): Route[] {
  const { urls } = browser;
  const { planManagementIframeUri } = core.config.experimental;
  const planFrame = planManagementIframeUri === undefined ? undefined : originSource(planManagementIframeUri);
  const parts: AreaParts = {
    files: areaFiles(browser, 'account.js'),
    protocolName: core.config.protocolName,
    version: core.process.version,
    hasCrossSigning: core.config.homeserver.kind !== 'none',
    recoveryEndsApplications: core.config.account.recoverySignsOutDevices,
    minimumPasswordLength: core.config.passwords.minimumLength,
    codeMinutes: Math.round(core.config.email.codeTtlSeconds / 60),
    clientLogosPath: core.config.account.clientLogos === 'initials' ? undefined : urls.path('client-logos/'),
    hasPlanManagement: planManagementIframeUri !== undefined,
    frames: [planFrame, ...captchaFrames(core.config.captcha)].filter((source) => source !== undefined),
    rootPath: urls.account(),
    graphqlPath: urls.path('graphql'),
    loginPath: urls.login(),
    logoutPath: urls.logout(),
  };
  const deps = { ...core, ...browser, parts };
  const page = { method: 'GET', resource: 'human', errorFormat: 'page' } as const;
  const changePassword = urls.absolute('account/password/change');
  return [
    {
      ...page,
      path: '/.well-known/change-password',
      // Password managers do not know the path of a public base URL. They ask at the origin.
      isAtOrigin: true,
      handle: () => redirect(changePassword, { 'cache-control': 'public, max-age=3600' }),
    },
    { ...page, path: '/account', handle: ({ rawQuery }) => redirect(withQuery(urls.account(), rawQuery)) },
    { ...page, path: '/account/', handle: (context) => showArea(deps, context) },
    { ...page, path: RECOVERY, handle: (context) => showRecovery(deps, context) },
    { ...page, path: '/account/*', handle: (context) => showArea(deps, context) },
  ];
}

const RECOVERY = '/account/password/recovery';
/**
 * The URL contains the ticket, so no request may send a referrer. The page has no form, whose submission would then
 * carry `Origin: null`.
 */
const TICKET_HEADERS = { 'referrer-policy': 'no-referrer', 'cross-origin-opener-policy': 'same-origin' } as const;

function withQuery(path: string, rawQuery: string): string {
  return rawQuery === '' ? path : `${path}?${rawQuery}`;
}

/** Does not check the ticket. The script does, and email scanners do not run scripts. */
function showRecovery({ pages, parts, urls }: Deps, context: RequestContext): HttpResponse {
  if ((context.query.get('ticket') ?? '') === '') return redirect(urls.recover(), TICKET_HEADERS);
  const response = renderArea(parts, pages.language(context), { isInOneLanguage: true });
  return { ...response, headers: { ...response.headers, ...TICKET_HEADERS } };
}

async function showArea(deps: Deps, context: RequestContext): Promise<HttpResponse> {
  if (hasDotSegment(context.params['*'] ?? '')) throw new LatchkeyError('not_found');
  const wanted = { path: context.params['*'] ?? '', query: context.query, protocolName: deps.config.protocolName };
  const response = await responseFor(deps, context, wanted);
  if (isCrossSigningReset(wanted)) return response;
  return { ...response, headers: { ...response.headers, 'cross-origin-opener-policy': 'same-origin' } };
}

async function responseFor(deps: Deps, context: RequestContext, wanted: WantedPage): Promise<HttpResponse> {
  const viewer = await deps.viewers.read(context);
  if (viewer.kind === 'active') return renderArea(deps.parts, deps.pages.language(context));
  const action = signInAction(wanted);
  if (viewer.kind === 'anonymous') return redirect(deps.urls.login(action, loginHint(wanted)));
  return deps.interstitials.answer(context, viewer, { action });
}
