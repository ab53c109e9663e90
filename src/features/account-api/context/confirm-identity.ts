import { acceptPassword } from '#domain/accounts/passwords/accept-password.ts';
import { reauthenticate } from '#domain/browser-sessions/reauthenticate.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { AccountContext } from './account-context.ts';
import { requireRecentAuthentication } from './authorization.ts';
import type { Caller } from './caller.ts';

export type Confirmation =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: 'incorrect-password' }
  | { readonly ok: false; readonly reason: 'rate-limited'; readonly retryAfterSeconds: number };

type TestUser = Extract<Caller, { readonly kind: 'browser' }> | Extract<Caller, { readonly kind: 'oauth' }>;

const CONFIRMED = { ok: true } as const;
const INCORRECT = { ok: false, reason: 'incorrect-password' } as const;

/**
 * Confirms that the account's owner sends the request (account-graphql 2.4, 2.5). If the account has a password, the
 * request must contain it. Otherwise the user must have authenticated recently. A correct password counts as an
 * authentication. Repeated wrong passwords end the session, as they do everywhere else.
 *
 * Administrators are exempt.
 * @param action name of the account action, without its prefix, that leads back to the page
 * @throws GraphQLError `REAUTH_REQUIRED`; LatchkeyError `overloaded`
 */
export async function confirmIdentity(
  context: AccountContext,
  password: string | null | undefined,
  action?: string,
): Promise<Confirmation> {
  const { caller, core, load } = context;
  if (caller.kind === 'anonymous' || context.reads === 'anybody') return CONFIRMED;
  const account = caller.user === undefined ? undefined : await load.accounts(caller.user.id);
  if (!core.config.passwords.enabled || account?.hasPassword !== true) {
    requireRecentAuthentication(context, action);
    return CONFIRMED;
  }
  return await checkPassword(context, caller, password ?? '');
}

async function checkPassword(context: AccountContext, caller: TestUser, password: string): Promise<Confirmation> {
  const outcome = await (caller.kind === 'browser'
    ? checkInBrowser(context, caller, password)
    : checkForToken(context, caller, password));
  if (outcome.ok) return CONFIRMED;
  switch (outcome.reason) {
    case 'rate-limited':
      return outcome;
    case 'overloaded':
      throw new LatchkeyError('overloaded', { retryAfterSeconds: outcome.retryAfterSeconds });
    case 'required':
    case 'invalid-credentials':
    case 'ended':
    case 'locked':
    case 'deactivated':
      return INCORRECT;
  }
}

async function checkInBrowser(
  { core, browser, request }: AccountContext,
  { user }: Extract<Caller, { readonly kind: 'browser' }>,
  password: string,
) {
  const cookie = browser.viewers.cookie(request);
  if (cookie === undefined) throw new Error('active viewer has no session cookie');
  const outcome = await reauthenticate(core, {
    cookie,
    user,
    password,
    address: request.clientAddress,
    userAgent: request.userAgent,
    knownBrowsers: browser.viewers.knownBrowsers(request),
    signal: request.signal,
  });
  if (outcome.ok) {
    if (outcome.session !== undefined) browser.viewers.rotate(request, outcome.session);
    browser.csrf.rotate(request);
  }
  return outcome;
}

async function checkForToken(
  { core, request }: AccountContext,
  { user }: Extract<Caller, { readonly kind: 'oauth' }>,
  password: string,
) {
  if (user === undefined || password === '') return { ok: false, reason: 'required' } as const;
  const checked = await core.passwordChecks.check({
    account: user.id,
    password,
    address: request.clientAddress,
    userAgent: request.userAgent,
    knownBrowsers: [],
    signal: request.signal,
  });
  if (!checked.ok) return checked;
  const isAccepted = await acceptPassword(core.database, checked.accepted, core.clock.now());
  return isAccepted ? CONFIRMED : ({ ok: false, reason: 'invalid-credentials' } as const);
}
