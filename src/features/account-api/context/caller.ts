import type { Browser } from '#browser/browser.ts';
import type { Core } from '#domain/core.ts';
import type { Bucket } from '#domain/limits/rate-limits.ts';
import { addressBucket, takeTokens } from '#domain/limits/rate-limits.ts';
import { introspectToken } from '#domain/oauth-sessions/introspect.ts';
import { tokenSettings } from '#domain/oauth-sessions/token-settings.ts';
import type { BrowserSession } from '#domain/records/browser-session.ts';
import type { User } from '#domain/records/user.ts';
import type { DpopProofs } from '#oauth-endpoint/dpop-proofs.ts';
import {
  BindingCheck,
  headerToken,
  insufficientScope,
  invalidToken,
  type PresentedToken,
} from '#oauth-endpoint/token-challenges.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { ADMIN_AREA_CLIENT_ID } from '#protocol/oauth/builtin-clients.ts';
import { parseToken } from '#protocol/oauth/token-format.ts';
import type { ClientId, OAuth2SessionId, UserId } from '#vocabulary/ids.ts';

/**
 * The caller of the API (account-graphql 2.1). Only a token can make its holder an administrator, never a browser
 * session.
 */
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
  readonly proofs: DpopProofs;
}

const NO_TOKEN: PresentedToken = { token: '', isBound: false };
const ANONYMOUS: Caller = { kind: 'anonymous' };
const SCOPE = 'urn:mas:graphql:*';

/**
 * Identifies the caller of a request and charges the caller's rate limit. This takes one lookup and one charge. For
 * browser sessions they run in parallel.
 * @param ignoresCookie ignores the session cookie, because another site may have sent the request
 * @throws LatchkeyError `invalid_token`, `invalid_dpop_proof`, `use_dpop_nonce`, `insufficient_scope`, `rate_limited`
 */
export async function identifyCaller(
  { core, browser, proofs }: CallerDeps,
  context: RequestContext,
  ignoresCookie: boolean,
): Promise<Caller> {
  const { authorization } = context.headers;
  if (authorization !== undefined) {
    const caller = await callerOfToken(core, proofs, context, authorization);
    await charge(core, sessionBucket(core, caller.sessionId));
    return caller;
  }
  const cookie = ignoresCookie ? undefined : browser.viewers.cookie(context);
  if (cookie === undefined) {
    await charge(core, anonymousBucket(core, context));
    return ANONYMOUS;
  }
  // The cookie is sealed, so a client cannot use up the limit of someone else's session.
  const charging = charge(core, sessionBucket(core, cookie.id));
  const [viewer] = await Promise.all([browser.viewers.read(context), charging]);
  // Pages explain why a session ended or an account is locked (browser-flows 2.5).
  return viewer.kind === 'active' ? { kind: 'browser', session: viewer.session, user: viewer.user } : ANONYMOUS;
}

type TokenCaller = Extract<Caller, { readonly kind: 'oauth' }>;

async function callerOfToken(
  core: Core,
  proofs: DpopProofs,
  context: RequestContext,
  authorization: string,
): Promise<TokenCaller> {
  const { config, database, adminRights, scopeRules, clock, activity } = core;
  const found = headerToken(authorization);
  const { token: text, isBound } = found === undefined || found === 'malformed' ? NO_TOKEN : found;
  if (!config.graphql.acceptsAccessTokens || parseToken(text)?.prefix !== 'mat') throw unknownToken(isBound);
  const proofKey = isBound ? await proofs.ofToken(context, 'graphql', text) : undefined;
  const now = clock.now();
  const binding = new BindingCheck(proofKey?.thumbprint);
  const token = await introspectToken(database, {
    kind: 'access-token',
    tokenHash: sha256(text),
    client: undefined,
    maySee: binding.maySee,
    settings: tokenSettings(config),
    rights: adminRights,
    now,
  });
  if (token === undefined || token === 'client-changed') throw unknownToken(isBound || binding.isBoundElsewhere);
  // The admin area needs the admin API only. Its tokens end after minutes; here they could open permanent sessions.
  if (token.clientId === ADMIN_AREA_CLIENT_ID) throw unknownToken(isBound);
  await proofKey?.consume();
  const { sessionId, clientId, user, scope } = token;
  context.setRequester(user === undefined ? { kind: 'oauth2-client', id: clientId } : { kind: 'user', ...user });
  context.requireWork();
  if (!scopeRules.isCovered([SCOPE], scope)) throw insufficientScope(SCOPE, isBound);
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

function unknownToken(isBound: boolean): LatchkeyError {
  const description =
    'the access token is unknown or expired, its session has ended, it is bound to another key, or tokens are not accepted here';
  return invalidToken(description, isBound);
}
