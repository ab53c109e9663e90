/**
 * The step of a sign-in after its first factor (browser-flows 4):
 *
 * - `GET`, `POST /login/totp`: a code of the person's authenticator app
 * - `GET`, `POST /login/recovery-code`: a code for when the app is lost
 * - `GET`, `POST /login/setup`: for a person who has to have a second factor and sets one up
 * - `GET`, `POST /reauth/totp`, `/reauth/recovery-code`: the same for a person who proves again who they are
 *
 * What waits is a pending login, which only the browser that began it can continue. The continuation (PostAuthAction)
 * stays in the query of each step and in the row, which wins.
 */
import type { Browser } from '#browser/browser.ts';
import type { Core } from '#domain/core.ts';
import type { Route } from '#platform/http/route.ts';
import { type CodeStep, showCode, submitCode } from './code.tsx';
import { showSetup, submitSetup } from './setup.tsx';

const CODE_STEPS: Readonly<Record<string, CodeStep>> = {
  '/login/totp': { kind: 'totp', purpose: 'sign-in' },
  '/login/recovery-code': { kind: 'recovery_code', purpose: 'sign-in' },
  '/reauth/totp': { kind: 'totp', purpose: 'reauth' },
  '/reauth/recovery-code': { kind: 'recovery_code', purpose: 'reauth' },
};

export function mount(core: Core, browser: Browser): Route[] {
  const deps = { ...core, ...browser, limits: core.config.rateLimiting };
  const page = { resource: 'human', errorFormat: 'page', capacity: 'sign-in' } as const;
  const setup = { ...page, path: '/login/setup' };
  return [
    { ...setup, method: 'GET', handle: (context) => showSetup(deps, context) },
    { ...setup, method: 'POST', handle: (context) => submitSetup(deps, context) },
    ...Object.entries(CODE_STEPS).flatMap(([path, step]): Route[] => [
      { ...page, path, method: 'GET', handle: (context) => showCode(deps, context, step) },
      { ...page, path, method: 'POST', handle: (context) => submitCode(deps, context, step) },
    ]),
  ];
}
