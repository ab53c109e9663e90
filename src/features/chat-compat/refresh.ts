import { type CompatRefreshRules, refreshCompatSession } from '#domain/compat-sessions/refresh-compat-session.ts';
import type { Core } from '#domain/core.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { metrics } from '#platform/base/metrics.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, json } from '#platform/http/response.ts';
import { parseChatClientToken } from '#protocol/oauth/chat-client-token.ts';
import { countResult } from './count-results.ts';
import { membersOf, requiredText } from './json-members.ts';

export interface RefreshDeps extends Core {
  readonly refreshRules: CompatRefreshRules;
}

/** Exchanges a chat client's refresh token for a new pair of tokens (chat-compat 7). */
export async function refreshTokens(deps: RefreshDeps, context: RequestContext): Promise<HttpResponse> {
  const refreshToken = requiredText(membersOf(await context.readJson()), 'refresh_token');
  const response = exchangeToken(deps, context, refreshToken);
  return await (metrics === undefined
    ? response
    : countResult(response, (result) => countRefresh(refreshToken, result)));
}

function countRefresh(token: string, result: string): void {
  const type = parseChatClientToken(token)?.kind === 'refresh-token' ? 'compat' : 'unknown';
  metrics?.count('latchkey_compat_refresh_total', { type, result });
}

async function exchangeToken(deps: RefreshDeps, context: RequestContext, refreshToken: string): Promise<HttpResponse> {
  const { clientAddress: address, userAgent } = context;
  const now = deps.clock.now();
  const outcome = await refreshCompatSession(
    deps.database,
    { refreshToken, address, userAgent },
    deps.refreshRules,
    now,
  );
  if (outcome.ok) {
    context.setRequester({ kind: 'user', id: outcome.userId });
    deps.activity.recordCompatSession(outcome.sessionId, now, address, userAgent);
    deps.activity.counters.count('tokens_issued', undefined, now);
    const { accessToken, expiresInMs } = outcome;
    return json(200, { access_token: accessToken, refresh_token: outcome.refreshToken, expires_in_ms: expiresInMs });
  }
  const { reason, userId } = outcome;
  if (reason === 'locked') throw new LatchkeyError('account_locked', { members: { soft_logout: true } });
  if (reason === 'reuse') {
    deps.log.warn('token.reuse', 'refresh token of a chat client reused; its session was ended', {
      user: userId,
    });
  }
  throw new LatchkeyError('unknown_token', { members: { soft_logout: false } });
}
