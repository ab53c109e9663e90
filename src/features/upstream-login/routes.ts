/**
 * Sign-in through upstream providers (browser-flows 8):
 *
 * - `GET /upstream/authorize/{id}`: redirects the user to the provider
 * - `GET`, `POST /upstream/callback/{id}`: takes the provider's response
 * - `GET`, `POST /upstream/link/{id}`: the last step, or the start of a registration; only the POST opens a browser
 *   session
 * - `POST /upstream/backchannel-logout/{id}`: the provider reports that a user signed out there
 *
 * A sign-in is a row (`domain/upstream`) that only the browser that started it can continue. The continuation
 * (PostAuthAction) stays in that browser's `upstream` cookie.
 */
import type { Browser } from '#browser/browser.ts';
import type { Core } from '#domain/core.ts';
import type { Route } from '#platform/http/route.ts';
import { authorize } from './authorize.ts';
import { receiveLogout } from './backchannel-logout.ts';
import { receiveCallback } from './callback.tsx';
import { showLink, submitLink } from './link.tsx';
import { linkDeps } from './newcomer.tsx';

export function mount(core: Core, browser: Browser): Route[] {
  const deps = linkDeps(core, browser);
  const page = { resource: 'human', errorFormat: 'page', headRefused: true } as const;
  const callback = { ...page, path: '/upstream/callback/:id', embedding: 'allowed' } as const;
  const link = { ...page, path: '/upstream/link/:id' };
  return [
    { ...page, path: '/upstream/authorize/:id', method: 'GET', handle: (context) => authorize(deps, context) },
    { ...callback, method: 'GET', handle: (context) => receiveCallback(deps, context) },
    { ...callback, method: 'POST', handle: (context) => receiveCallback(deps, context) },
    {
      method: 'POST',
      path: '/upstream/backchannel-logout/:id',
      resource: 'human',
      errorFormat: 'oauth-json',
      handle: (context) => receiveLogout(core, context),
    },
    { ...link, method: 'GET', handle: (context) => showLink(deps, context) },
    { ...link, method: 'POST', capacity: 'sign-in', handle: (context) => submitLink(deps, context) },
  ];
}
