/**
 * The account area (account-graphql 8): one page for every address below `/account/`, whose script shows what the
 * address asks for and calls `/graphql` for it.
 *
 * - `GET /account`: to `/account/`
 * - `GET /account/`, `GET /account/{rest}`: the page for who is signed in; the sign-in page for others
 * - `GET /account/password/recovery?ticket=`: the same for everybody: a recovery mail leads there (browser-flows 7.3)
 * - `GET /.well-known/change-password`: where password managers look for the page that changes a password (oauth 2.3)
 *
 * The page holds nothing about the person. All that it shows comes by `/graphql`, which judges each request by itself.
 */
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
  const { assets, site, urls } = browser;
  const { planManagementIframeUri } = core.config.experimental;
  const planFrame = planManagementIframeUri === undefined ? undefined : originSource(planManagementIframeUri);
  const parts: AreaParts = {
    site,
    integrityOf: (name) => assets.find(name)?.integrity,
    imports: assets.importsOf('account.js'),
    publishedPath: (name) => urls.path(`assets/${name}`),
    protocolName: core.config.protocolName,
    version: core.version,
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
      // Password managers know nothing of the path of a public base: they ask the origin.
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
/** The address holds the ticket: no request tells it. There is no form, which would then be sent with `Origin: null`. */
const TICKET_HEADERS = { 'referrer-policy': 'no-referrer', 'cross-origin-opener-policy': 'same-origin' } as const;

const DOT_SEGMENT = /(?:^|[/\\])\.{1,2}(?:$|[/\\])/;

function withQuery(path: string, rawQuery: string): string {
  return rawQuery === '' ? path : `${path}?${rawQuery}`;
}

/** Looks at nothing: what the ticket is worth is a question of the script, and programs that scan mails have none. */
function showRecovery({ pages, parts, urls }: Deps, context: RequestContext): HttpResponse {
  if ((context.query.get('ticket') ?? '') === '') return redirect(urls.recover(), TICKET_HEADERS);
  const answer = renderArea(parts, pages.language(context));
  return { ...answer, headers: { ...answer.headers, ...TICKET_HEADERS } };
}

async function showArea(deps: Deps, context: RequestContext): Promise<HttpResponse> {
  // As proxies and browsers understand it, such an address is another one (security S-152).
  if (DOT_SEGMENT.test(context.params['*'] ?? '')) throw new LatchkeyError('not_found');
  const wanted = { path: context.params['*'] ?? '', query: context.query, protocolName: deps.config.protocolName };
  const answer = await answerFor(deps, context, wanted);
  if (isCrossSigningReset(wanted)) return answer;
  return { ...answer, headers: { ...answer.headers, 'cross-origin-opener-policy': 'same-origin' } };
}

async function answerFor(deps: Deps, context: RequestContext, wanted: WantedPage): Promise<HttpResponse> {
  const viewer = await deps.viewers.read(context);
  if (viewer.kind === 'active') return renderArea(deps.parts, deps.pages.language(context));
  const action = signInAction(wanted);
  if (viewer.kind === 'anonymous') return redirect(deps.urls.login(action, loginHint(wanted)));
  return deps.interstitials.answer(context, viewer, { action });
}
