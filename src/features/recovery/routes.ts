/**
 * Password recovery by email (browser-flows 7):
 *
 * - `GET`, `POST /recover`: asks for the account's email address and sends a link to it
 * - `GET`, `POST /recover/progress/{session_id}`: confirms this, and sends another email on request
 *
 * No response reveals whether an account has the address: a job looks it up. The link leads to the account area.
 */
import type { Browser } from '#browser/browser.ts';
import type { Core } from '#domain/core.ts';
import type { Route } from '#platform/http/route.ts';
import { showProgress, submitResend } from './progress.tsx';
import { showRecover, submitRecover } from './recover.tsx';
import { recoveryDeps } from './recovery-deps.tsx';

export function mount(core: Core, browser: Browser): Route[] {
  const deps = recoveryDeps(core, browser);
  const page = { resource: 'human', errorFormat: 'page' } as const;
  const start = { ...page, path: '/recover' };
  const progress = { ...page, path: '/recover/progress/:session_id' };
  return [
    { ...start, method: 'GET', handle: (context) => showRecover(deps, context) },
    { ...start, method: 'POST', handle: (context) => submitRecover(deps, context) },
    { ...progress, method: 'GET', handle: (context) => showProgress(deps, context) },
    { ...progress, method: 'POST', handle: (context) => submitResend(deps, context) },
  ];
}
