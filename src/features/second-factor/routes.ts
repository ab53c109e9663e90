/**
 * The step of a sign-in after its first factor (browser-flows 4):
 *
 * - `GET`, `POST /login/totp`: a code of the person's authenticator app
 * - `GET`, `POST /login/recovery-code`: a code for when the app is lost
 * - `GET`, `POST /reauth/totp`, `/reauth/recovery-code`: the same for a person who proves again who they are
 *
 * What waits is a pending login, which only the browser that began it can continue. The continuation (PostAuthAction)
 * stays in the query of each step and in the row, which wins.
 */
import type { Browser } from '#browser/browser.ts';
import type { Core } from '#domain/core.ts';
import type { Route } from '#platform/http/route.ts';
import { type CodeStep, showCode, submitCode } from './code.tsx';

const CODE_STEPS: Readonly<Record<string, CodeStep>> = {
  '/login/totp': { kind: 'totp', purpose: 'sign-in' },
  '/login/recovery-code': { kind: 'recovery_code', purpose: 'sign-in' },
  '/reauth/totp': { kind: 'totp', purpose: 'reauth' },
  '/reauth/recovery-code': { kind: 'recovery_code', purpose: 'reauth' },
};

export function mount(core: Core, browser: Browser): Route[] {
  const deps = { ...core, ...browser, limits: core.config.rateLimiting };
  return Object.entries(CODE_STEPS).flatMap(([path, step]): Route[] => {
    const page = { path, resource: 'human', errorFormat: 'page', capacity: 'sign-in' } as const;
    return [
      { ...page, method: 'GET', handle: (context) => showCode(deps, context, step) },
      { ...page, method: 'POST', handle: (context) => submitCode(deps, context, step) },
    ];
  });
}
