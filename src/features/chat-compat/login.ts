import type { Urls } from '#browser/urls.ts';
import { judgeLoginToken } from '#domain/compat-sessions/judge-login-token.ts';
import type {
  OpenCompatSessionDeps,
  OpenCompatSessionOutcome,
  OpenedCompatSession,
} from '#domain/compat-sessions/open-compat-session.ts';
import { openCompatSessionWithLoginToken } from '#domain/compat-sessions/open-with-login-token.ts';
import { openCompatSessionWithPassword } from '#domain/compat-sessions/open-with-password.ts';
import type { Core } from '#domain/core.ts';
import { findBan } from '#domain/policy/requester-policy.ts';
import { refusingSetting } from '#domain/policy/violations.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { metrics } from '#platform/base/metrics.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, json } from '#platform/http/response.ts';
import { countResult } from './count-results.ts';
import { judgeCompatLogin } from './judge-login.ts';
import {
  type LoginRequest,
  type LoginRules,
  loginLabel,
  PASSWORD_LOGIN,
  parseLoginRequest,
  type TOKEN_LOGIN,
} from './login-request.ts';

export interface LoginDeps extends Core, Pick<OpenCompatSessionDeps, 'accessTokenTtlSeconds'> {
  readonly loginRules: LoginRules;
  readonly urls: Urls;
}

/** Signs a client in with the user's password, or with a login token (chat-compat 5). */
export async function logIn(deps: LoginDeps, context: RequestContext): Promise<HttpResponse> {
  const body = await context.readJson();
  const response = openAsWanted(deps, context, body);
  return await (metrics === undefined ? response : countResult(response, (result) => countLogin(body, result)));
}

/** The client shows this to the user, whose password was correct. */
const FACTOR_DUE = 'This account has a second factor. Sign in through the browser (single sign-on).';

function countLogin(body: unknown, result: string): void {
  metrics?.count('latchkey_compat_login_total', { type: loginLabel(body), result });
}

async function openAsWanted(deps: LoginDeps, context: RequestContext, body: unknown): Promise<HttpResponse> {
  const request = parseLoginRequest(body, deps.loginRules);
  const bannedBy = findBan(deps, 'compatLogin', context.clientAddress, context.userAgent);
  if (bannedBy !== undefined) {
    deps.log.info('auth.refused', 'sign-in of a chat client refused: banned requester', {
      code: 'requester_banned',
      setting: bannedBy,
    });
    throw new LatchkeyError('login_refused', { description: 'The policy does not allow this requester.' });
  }
  const session = await openSession(deps, context, request);
  const { user, deviceId, accessToken, refresh } = session;
  context.setRequester({ kind: 'user', id: user.id, username: user.username }, { replace: true });
  deps.activity.counters.count('tokens_issued', undefined, deps.clock.now());
  return json(200, {
    access_token: accessToken,
    device_id: deviceId,
    user_id: `@${user.username}:${deps.loginRules.serverName}`,
    refresh_token: refresh?.token,
    expires_in_ms: refresh?.expiresInMs,
  });
}

async function openSession(
  deps: LoginDeps,
  context: RequestContext,
  request: LoginRequest,
): Promise<OpenedCompatSession> {
  const isByPassword = request.type === PASSWORD_LOGIN;
  const outcome = isByPassword
    ? await openByPassword(deps, context, request)
    : await openByToken(deps, context, request);
  if (outcome.ok) return outcome.session;
  switch (outcome.reason) {
    case 'deactivated':
      // The correct password has just proven who owns the account.
      throw isByPassword ? new LatchkeyError('account_deactivated') : tokenRefused();
    case 'locked':
      throw new LatchkeyError('account_locked', { members: { soft_logout: true } });
    case 'factor-due':
      throw new LatchkeyError('login_refused', { description: FACTOR_DUE });
    case 'lost':
      throw isByPassword ? new LatchkeyError('login_refused') : tokenRefused();
    case 'too-many-sessions':
      throw new LatchkeyError('too_many_sessions', { members: { info_uri: deps.urls.absolute('account/') } });
  }
}

async function openByPassword(
  deps: LoginDeps,
  context: RequestContext,
  { account, password, device }: Extract<LoginRequest, { readonly type: typeof PASSWORD_LOGIN }>,
): Promise<OpenCompatSessionOutcome> {
  const { clientAddress: address, userAgent, signal } = context;
  const check = await deps.passwordChecks.check({ account, password, address, userAgent, knownBrowsers: [], signal });
  if (!check.ok) {
    if (check.reason === 'invalid-credentials') throw new LatchkeyError('login_refused');
    const code = check.reason === 'overloaded' ? 'overloaded' : 'rate_limited';
    throw new LatchkeyError(code, { retryAfterSeconds: check.retryAfterSeconds });
  }
  await requireAllowed(deps, context, { user: check.accepted.user, login_type: PASSWORD_LOGIN });
  return await openCompatSessionWithPassword(deps, check.accepted, { ...device, address, userAgent }, context);
}

async function openByToken(
  deps: LoginDeps,
  context: RequestContext,
  { token, device }: Extract<LoginRequest, { readonly type: typeof TOKEN_LOGIN }>,
): Promise<OpenCompatSessionOutcome> {
  const { clientAddress: address, userAgent } = context;
  const ttlSeconds = deps.config.compat.loginTokenTtlSeconds;
  const syncsDevices = deps.homeserver.isConnected;
  const presented = { token, ttlSeconds, now: deps.clock.now(), address, userAgent, syncsDevices };
  const judgement = await judgeLoginToken(deps.database, presented);
  if (!judgement.ok) {
    if (judgement.reason === 'replayed') {
      deps.log.warn('token.reuse', 'login token of a chat client reused; its session was ended', {
        user: judgement.userId,
      });
    }
    throw tokenRefused();
  }
  await requireAllowed(deps, context, { user: judgement.valid.user, login_type: 'm.login.token' });
  return await openCompatSessionWithLoginToken(
    deps,
    judgement.valid,
    ttlSeconds,
    { ...device, address, userAgent },
    context,
  );
}

/**
 * Checked only for valid credentials, so that an attacker cannot learn whom the operator rejects.
 * @throws LatchkeyError `login_refused`
 */
async function requireAllowed(
  deps: LoginDeps,
  context: RequestContext,
  login: Parameters<typeof judgeCompatLogin>[1],
): Promise<void> {
  const violations = await judgeCompatLogin(deps, login, context);
  if (violations.length === 0) return;
  deps.log.info('auth.refused', 'sign-in of a chat client refused by policy', {
    code: 'policy',
    setting: refusingSetting(violations),
    user: login.user.id,
  });
  const texts = violations.flatMap((found) => (found.code === 'policy-module' ? [found.violation.msg] : []));
  throw new LatchkeyError('login_refused', { description: texts.join(' ') });
}

function tokenRefused(): LatchkeyError {
  return new LatchkeyError('login_refused', { description: 'the login token is unknown, already used or expired' });
}
