/**
 * The device authorization grant (RFC 8628), for devices without a browser or a keyboard:
 *
 * - `POST /oauth2/device`: a device requests its codes
 * - `GET` and `POST /link`: the user enters the user code in a browser
 * - `GET` and `POST /device/{device_code_id}`: the user decides, and sees the result
 *
 * The device polls the token endpoint (`features/token`). The pages exist only with `oauth.device_code_grant_enabled`.
 */
import type { Browser } from '#browser/browser.ts';
import { UserCodes } from '#domain/authorizations/user-codes.ts';
import type { Core } from '#domain/core.ts';
import { ClientAuthentication } from '#oauth-endpoint/client-authentication.ts';
import { ClientDocuments } from '#oauth-endpoint/client-documents.ts';
import type { Route } from '#platform/http/route.ts';
import { showDevice, submitDevice } from './decision.tsx';
import { authorizeDevice } from './device-authorization.ts';
import { showLink, submitLink } from './link.tsx';

export function mount(core: Core, browser: Browser): Route[] {
  const authentication = new ClientAuthentication(core, '/oauth2/device', new ClientDocuments(core));
  const deps = { ...core, ...browser };
  const machine: Route = {
    method: 'POST',
    path: '/oauth2/device',
    resource: 'oauth',
    errorFormat: 'oauth-json',
    cors: 'get-post',
    handle: (context) => authorizeDevice({ ...deps, authentication }, context),
  };
  if (!core.config.oauth.deviceCodeGrantEnabled) return [machine];
  const userCodes = new UserCodes({ ...core, limits: core.config.rateLimiting.deviceCode });
  const linkDeps = { ...deps, userCodes };
  const page = { resource: 'human', errorFormat: 'page' } as const;
  const device = { ...page, path: '/device/:device_code_id' };
  return [
    machine,
    { ...page, method: 'GET', path: '/link', handle: (context) => showLink(linkDeps, context) },
    { ...page, method: 'POST', path: '/link', handle: (context) => submitLink(linkDeps, context) },
    { ...device, method: 'GET', handle: (context) => showDevice(deps, context) },
    { ...device, method: 'POST', handle: (context) => submitDevice(deps, context) },
  ];
}
