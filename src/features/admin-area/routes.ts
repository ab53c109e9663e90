/**
 * The admin area (administration 7): one page for every path below `/admin/`, for administrators only. Its script shows
 * what the path stands for, with data from the admin API.
 *
 * - `GET /admin`: redirects to `/admin/`
 * - `GET /admin/`, `GET /admin/{rest}`: the page for administrators. Visitors are redirected to the sign-in page; for
 *   other users it does not exist
 * - `GET /admin/callback`: where the script's silent authorization requests end; it reads the URL
 *
 * The page contains no data. Its script gets an access token by a silent authorization request, which checks the right
 * to administer, the age of the sign-in and the second factor, every five minutes anew.
 */
import { areaFiles } from '#browser/area-document.tsx';
import { hasDotSegment } from '#browser/area-path.ts';
import type { Browser, PageDeps } from '#browser/browser.ts';
import type { Core } from '#domain/core.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, noStore, redirect } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import { ADMIN_AREA_CLIENT_ID } from '#protocol/oauth/builtin-clients.ts';
import { type AdminAreaParts, renderAdminArea } from './admin.page.tsx';

type Deps = PageDeps & { readonly parts: AdminAreaParts };

export function mount(core: Core, browser: Browser): Route[] {
  if (!core.config.adminArea.enabled) return [];
  const { urls } = browser;
  const parts: AdminAreaParts = {
    files: areaFiles(browser, 'admin.js'),
    rootPath: urls.adminArea(),
    basePath: urls.basePath,
    clientId: ADMIN_AREA_CLIENT_ID,
    version: core.process.version,
  };
  const deps = { ...core, ...browser, parts };
  const page = { method: 'GET', resource: 'adminarea', errorFormat: 'page' } as const;
  return [
    { ...page, path: '/admin', handle: () => redirect(urls.adminArea()) },
    { ...page, path: '/admin/', handle: (context) => showAdminArea(deps, context) },
    { ...page, path: '/admin/callback', handle: () => ({ status: 204, headers: CALLBACK_HEADERS }) },
    { ...page, path: '/admin/*', handle: (context) => showAdminArea(deps, context) },
  ];
}

/** The URL contains an authorization code. */
const CALLBACK_HEADERS = { ...noStore, 'referrer-policy': 'no-referrer' } as const;

const ADMINISTER = { kind: 'administer' } as const;

async function showAdminArea(deps: Deps, context: RequestContext): Promise<HttpResponse> {
  if (hasDotSegment(context.params['*'] ?? '')) throw new LatchkeyError('not_found');
  const viewer = await deps.viewers.read(context);
  if (viewer.kind === 'anonymous') return redirect(deps.urls.login(ADMINISTER));
  if (viewer.kind !== 'active') return deps.interstitials.answer(context, viewer, { action: ADMINISTER });
  const { username, canRequestAdmin } = viewer.user;
  const mayAdminister = deps.adminRights.mayUserAdminister({ username, can_request_admin: canRequestAdmin });
  if (!mayAdminister) throw new LatchkeyError('not_found');
  const response = renderAdminArea(deps.parts, deps.pages.language(context));
  return { ...response, headers: { ...response.headers, 'cross-origin-opener-policy': 'same-origin' } };
}
