import type { AuditActor } from '#domain/audit/audit-event.ts';
import type { Core } from '#domain/core.ts';
import { introspectToken } from '#domain/oauth-sessions/introspect.ts';
import { tokenSettings } from '#domain/oauth-sessions/token-settings.ts';
import { chargeAddress } from '#domain/rate-limits/rate-limits.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { ClientId, UserId } from '#platform/base/ids.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { parseBearer } from '#protocol/oauth/presented-credentials.ts';
import { parseToken } from '#protocol/oauth/token-format.ts';

/** Who administers: a client with the token of a person, or with its own. */
export interface AdminCaller {
  readonly clientId: ClientId;
  readonly user: { readonly id: UserId; readonly username: string } | undefined;
}

const SCOPE = 'urn:mas:admin';

/** For the events of people. Where administrators are is nobody's business but that of other ones. */
export function actorOf({ clientId, user }: AdminCaller): AuditActor {
  return { clientId, detail: { actor: 'admin', ...(user !== undefined && { admin: user.id }) } };
}

/**
 * The administrator behind a request (operations 4.1): one statement, two at the first use of the token. Only failures
 * count against the address that they come from.
 * @throws LatchkeyError `missing_token`, `invalid_token`, `insufficient_scope`, `rate_limited`
 */
export async function identifyAdmin(core: Core, context: RequestContext): Promise<AdminCaller> {
  const { authorization } = context.headers;
  if (authorization === undefined) {
    throw await refused(
      core,
      context,
      new LatchkeyError('missing_token', { headers: { 'www-authenticate': 'Bearer' } }),
    );
  }
  const { config, database, adminRights, scopeRules, clock, activity } = core;
  const presented = parseBearer(authorization);
  const text = presented.kind === 'token' ? presented.token : '';
  const now = clock.now();
  const asker = { client: undefined, maySee: () => true };
  const token =
    parseToken(text)?.prefix === 'mat'
      ? await introspectToken(database, 'access-token', text, asker, tokenSettings(config), adminRights, now)
      : undefined;
  // A token that is bound to a key proves nothing without it (RFC 9449 7.1).
  if (token === undefined || token === 'client-changed' || token.key !== undefined) {
    throw await refused(core, context, unknownToken());
  }
  const { sessionId, clientId, user, scope } = token;
  context.setRequester(user === undefined ? { kind: 'oauth2-client', id: clientId } : { kind: 'user', ...user });
  if (!scope.some((name) => scopeRules.classify(name) === 'admin')) {
    throw await refused(core, context, insufficientScope());
  }
  activity.recordOAuth2Session(sessionId, now, context.clientAddress, context.userAgent);
  return { clientId, user };
}

/** The failure, or that there were too many of them. */
async function refused(core: Core, { clientAddress }: RequestContext, failure: LatchkeyError): Promise<LatchkeyError> {
  const limiter = core.config.rateLimiting.adminToken.perIp;
  const taken = await chargeAddress(core, { name: 'admin-token', limiter, address: clientAddress });
  if (taken.ok) return failure;
  return new LatchkeyError('rate_limited', { retryAfterSeconds: taken.retryAfterSeconds });
}

/** RFC 6750 3.1. */
function unknownToken(): LatchkeyError {
  return new LatchkeyError('invalid_token', {
    description: 'the access token is unknown or expired, or its session has ended',
    headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
  });
}

function insufficientScope(): LatchkeyError {
  return new LatchkeyError('insufficient_scope', {
    description: `the access token lacks the scope ${SCOPE}`,
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${SCOPE}"` },
  });
}
