/**
 * The step of a sign-in after its first factor (browser-flows 4):
 *
 * - `GET`, `POST /login/totp`: a code from the user's authenticator app
 * - `GET`, `POST /login/recovery-code`: a code for users who lost the app
 * - `GET`, `POST /login/setup`: for users who must set up a second factor
 * - `GET`, `POST /reauth/totp`, `/reauth/recovery-code`: the same for reauthentication
 *
 * The state is a pending login, which only the browser that started it can continue. The continuation (PostAuthAction)
 * stays in the query of each step and in the row, which takes precedence.
 */
import type { Browser } from '#browser/browser.ts';
import type { Core } from '#domain/core.ts';
import type { Route } from '#platform/http/route.ts';
import { type CodeStep, showCode, submitCode } from './code.tsx';
import { showSetup, submitSetup } from './setup.tsx';

const TOTP: CodeStep = { kind: 'totp', purpose: 'sign-in' };
const RECOVERY_CODE: CodeStep = { kind: 'recovery_code', purpose: 'sign-in' };
const TOTP_AGAIN: CodeStep = { kind: 'totp', purpose: 'reauth' };
const RECOVERY_CODE_AGAIN: CodeStep = { kind: 'recovery_code', purpose: 'reauth' };

export function mount(core: Core, browser: Browser): Route[] {
  const deps = { ...core, ...browser, limits: core.config.rateLimiting };
  const page = { resource: 'human', errorFormat: 'page', capacity: 'sign-in' } as const;
  const setup = { ...page, path: '/login/setup' };
  const totp = { ...page, path: '/login/totp' };
  const recoveryCode = { ...page, path: '/login/recovery-code' };
  const totpAgain = { ...page, path: '/reauth/totp' };
  const recoveryCodeAgain = { ...page, path: '/reauth/recovery-code' };
  return [
    { ...setup, method: 'GET', handle: (context) => showSetup(deps, context) },
    { ...setup, method: 'POST', handle: (context) => submitSetup(deps, context) },
    { ...totp, method: 'GET', handle: (context) => showCode(deps, context, TOTP) },
    { ...totp, method: 'POST', handle: (context) => submitCode(deps, context, TOTP) },
    { ...recoveryCode, method: 'GET', handle: (context) => showCode(deps, context, RECOVERY_CODE) },
    { ...recoveryCode, method: 'POST', handle: (context) => submitCode(deps, context, RECOVERY_CODE) },
    { ...totpAgain, method: 'GET', handle: (context) => showCode(deps, context, TOTP_AGAIN) },
    { ...totpAgain, method: 'POST', handle: (context) => submitCode(deps, context, TOTP_AGAIN) },
    { ...recoveryCodeAgain, method: 'GET', handle: (context) => showCode(deps, context, RECOVERY_CODE_AGAIN) },
    { ...recoveryCodeAgain, method: 'POST', handle: (context) => submitCode(deps, context, RECOVERY_CODE_AGAIN) },
  ];
}
