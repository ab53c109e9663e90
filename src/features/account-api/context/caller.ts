import type { Browser } from '#browser/browser.ts';
import type { User } from '#domain/accounts/user.ts';
import type { BrowserSession } from '#domain/browser-sessions/browser-session.ts';
import type { Core } from '#domain/core.ts';
import { introspectToken } from '#domain/oauth-sessions/introspect.ts';
import { tokenSettings } from '#domain/oauth-sessions/token-settings.ts';
import type { Bucket } from '#domain/rate-limits/rate-limits.ts';
import { addressBucket, takeTokens } from '#domain/rate-limits/rate-limits.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { ClientId, OAuth2SessionId, UserId } from '#platform/base/ids.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { parseBearer } from '#protocol/oauth/presented-credentials.ts';
import { parseToken } from '#protocol/oauth/token-format.ts';

/** Who asks (account-graphql 2.1). Only a token can make its holder an administrator, never a browser session. */
export type Caller =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'browser'; readonly session: BrowserSession; readonly user: User }
  | {
      readonly kind: 'oauth';
      readonly sessionId: OAuth2SessionId;
      readonly clientId: ClientId;
      readonly user: { readonly id: UserId; readonly username: string } | undefined;
      readonly isAdmin: boolean;
    };

export interface CallerDeps {
  readonly core: Core;
  readonly browser: Browser;
}

const ANONYMOUS: Caller = { kind: 'anonymous' };
const SCOPE = 'urn:mas:graphql:*';

/**
 * The caller of a request, which is counted against the caller's limit. One look-up and one charge, which do not wait for
 * each other.
 * @param ignoresCookie another site may have sent the request: it is nobody's
 * @throws LatchkeyError `unknown_token`, `insufficient_scope`, `rate_limited`
 */
export async function identifyCaller(
  { core, browser }: CallerDeps,
  context: RequestContext,
  ignoresCookie: boolean,
): Promise<Caller> {
  const { authorization } = context.headers;
  if (authorization !== undefined) {
    const caller = await callerOfToken(core, context, authorization);
    await charge(core, sessionBucket(core, caller.sessionId));
    return caller;
  }
  const cookie = ignoresCookie ? undefined : browser.viewers.cookie(context);
  if (cookie === undefined) {
    await charge(core, anonymousBucket(core, context));
    return ANONYMOUS;
  }
  // The cookie is sealed, so that nobody can count against the session of another.
  const charging = charge(core, sessionBucket(core, cookie.id));
  const [viewer] = await Promise.all([browser.viewers.read(context), charging]);
  // What has become of an ended session or a locked account is for pages to tell (browser-flows 2.5).
  return viewer.kind === 'active' ? { kind: 'browser', session: viewer.session, user: viewer.user } : ANONYMOUS;
}

type TokenCaller = Extract<Caller, { readonly kind: 'oauth' }>;

async function callerOfToken(core: Core, context: RequestContext, authorization: string): Promise<TokenCaller> {
  const { config, database, adminRights, scopeRules, clock, activity } = core;
  const presented = parseBearer(authorization);
  const text = presented.kind === 'token' ? presented.token : '';
  if (!config.graphql.acceptsAccessTokens || parseToken(text)?.prefix !== 'mat') throw unknownToken();
  const now = clock.now();
  const asker = { client: undefined, maySee: () => true };
  const settings = tokenSettings(config);
  const token = await introspectToken(database, 'access-token', text, asker, settings, adminRights, now);
  // A token that is bound to a key proves nothing without it (RFC 9449 7.1).
  if (token === undefined || token === 'client-changed' || token.key !== undefined) throw unknownToken();
  const { sessionId, clientId, user, scope } = token;
  context.setRequester(user === undefined ? { kind: 'oauth2-client', id: clientId } : { kind: 'user', ...user });
  context.requireWork();
  if (!scopeRules.isCovered([SCOPE], scope)) throw insufficientScope();
  activity.recordOAuth2Session(sessionId, now, context.clientAddress, context.userAgent);
  const isAdmin = scope.some((name) => scopeRules.classify(name) === 'admin');
  return { kind: 'oauth', sessionId, clientId, user, isAdmin };
}

function sessionBucket({ config }: Core, id: string): Bucket {
  return { key: `graphql:session:${id}`, limiter: config.rateLimiting.graphql.authenticated };
}

function anonymousBucket({ config, log }: Core, { clientAddress }: RequestContext): Bucket {
  const limiter = config.rateLimiting.graphql.anonymous;
  return addressBucket(log, { name: 'graphql', limiter, address: clientAddress });
}

async function charge(core: Core, bucket: Bucket): Promise<void> {
  const taken = await takeTokens(core.database, core.clock, [bucket]);
  if (!taken.ok) throw new LatchkeyError('rate_limited', { retryAfterSeconds: taken.retryAfterSeconds });
}

/** RFC 6750 3.1. */
function unknownToken(): LatchkeyError {
  return new LatchkeyError('invalid_token', {
    description: 'the access token is unknown or expired, its session has ended, or tokens are not accepted here',
    headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
  });
}

function insufficientScope(): LatchkeyError {
  return new LatchkeyError('insufficient_scope', {
    description: `the access token lacks the scope ${SCOPE}`,
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${SCOPE}"` },
  });
}
