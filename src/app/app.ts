/**
 * Composition: mounts the listed features on one core. It does not listen, so that tests and `serve` run the same
 * application.
 */
import type { AssetFiles } from '#browser/asset-files.ts';
import { type Browser, createBrowser } from '#browser/browser.ts';
import { PAGE_SECURITY_HEADERS } from '#browser/page-headers.ts';
import type { Core } from '#domain/core.ts';
import { mount as accountApi } from '#features/account-api/routes.ts';
import { mount as accountArea } from '#features/account-area/routes.ts';
import { mount as adminApi } from '#features/admin-api/routes.ts';
import { mount as adminArea } from '#features/admin-area/routes.ts';
import { mount as authorization } from '#features/authorization/routes.ts';
import { mount as chatCompat } from '#features/chat-compat/routes.ts';
import { mount as clientLogos } from '#features/client-logos/routes.ts';
import { mount as clientRegistration } from '#features/client-registration/routes.ts';
import { mount as dataExport } from '#features/data-export/routes.ts';
import { mount as device } from '#features/device/routes.ts';
import { mount as discovery } from '#features/discovery/routes.ts';
import { mount as endSession } from '#features/end-session/routes.tsx';
import { mount as indexPage } from '#features/index-page/routes.tsx';
import { mount as introspection } from '#features/introspection/routes.ts';
import { mount as login } from '#features/login/routes.tsx';
import { mount as logout } from '#features/logout/routes.tsx';
import { mount as operations } from '#features/operations/routes.ts';
import { mount as pushedAuthorization } from '#features/pushed-authorization/routes.ts';
import { mount as reauth } from '#features/reauth/routes.tsx';
import { mount as recovery } from '#features/recovery/routes.ts';
import { mount as registration } from '#features/registration/routes.ts';
import { mount as revocation } from '#features/revocation/routes.ts';
import { mount as secondFactor } from '#features/second-factor/routes.ts';
import { mount as token } from '#features/token/routes.ts';
import { mount as upstreamLogin } from '#features/upstream-login/routes.ts';
import { mount as userinfo } from '#features/userinfo/routes.ts';
import { Cookies } from '#platform/http/cookies.ts';
import type { Route } from '#platform/http/route.ts';
import { createHttpServer, type HttpServer } from '#platform/http/server.ts';
import type { ServingOptions } from '#platform/http/serving.ts';
import { ERRORS } from '#vocabulary/errors.ts';
import { createErrorFormats, errorFormatOfPath } from './error-formats.ts';

const FEATURES: readonly ((core: Core, browser: Browser) => Route[])[] = [
  discovery,
  indexPage,
  login,
  secondFactor,
  upstreamLogin,
  logout,
  endSession,
  reauth,
  recovery,
  registration,
  authorization,
  pushedAuthorization,
  token,
  device,
  introspection,
  revocation,
  clientRegistration,
  clientLogos,
  userinfo,
  chatCompat,
  accountApi,
  accountArea,
  dataExport,
  adminApi,
  adminArea,
  operations,
];

export interface App {
  readonly server: HttpServer;
  /** All routes of the server. */
  readonly routes: readonly Route[];
  /** Preloads what the first requests would otherwise wait for. Rejects with the error that they would get. */
  preload(): Promise<void>;
}

/**
 * Builds the application.
 * @param assets files of the build
 */
export function buildApp(core: Core, assets: AssetFiles): App {
  const { log, instance, process } = core;
  const { serving, preload } = mountFeatures(core, assets);
  const server = createHttpServer({ ...serving, ...process, log });
  instance.isOverloaded = () => server.isOverloaded;
  return { server, routes: serving.routes, preload };
}

/** Mounts the features with the configuration and collaborators of this core. */
export function mountFeatures(
  core: Core,
  assets: AssetFiles,
): { readonly serving: ServingOptions } & Pick<App, 'preload'> {
  const { config, instance, log, keyRing } = core;
  const browser = createBrowser(core, assets);
  const { urls, pages } = browser;
  const routes = FEATURES.flatMap((mount) => mount(core, browser));
  const serving = {
    routes,
    http: config.http,
    limits: config.limits,
    address: urls,
    isAvailable: ({ isClockIndependent }: Route) => isClockIndependent === true || instance.isClockRight(),
    formatOfPath: (path: string) => errorFormatOfPath(path, config.protocolName),
    pageHeaders: PAGE_SECURITY_HEADERS,
    cookies: new Cookies({ keys: keyRing, address: urls, log, prefix: 'latchkey_' }),
    errors: ERRORS,
    errorFormats: createErrorFormats({ issuer: config.http.issuer, pages, urls }),
  };
  const served = new Set(config.http.listeners.flatMap(({ resources }) => resources.map(({ name }) => name)));
  const preload = async (): Promise<void> => {
    for (const route of routes) if (served.has(route.resource)) await route.preload?.();
  };
  return { serving, preload };
}
