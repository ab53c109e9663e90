import type { AuditActor } from '#domain/audit/audit-event.ts';
import type { Core } from '#domain/core.ts';
import { chargeAddress } from '#domain/limits/rate-limits.ts';
import { introspectToken } from '#domain/oauth-sessions/introspect.ts';
import { tokenSettings } from '#domain/oauth-sessions/token-settings.ts';
import { introspectPersonalToken } from '#domain/personal-sessions/introspect-personal-token.ts';
import type { PersonalOwner } from '#domain/personal-sessions/issue-personal-token.ts';
import type { DpopProofs } from '#oauth-endpoint/dpop-proofs.ts';
import { BindingCheck, headerToken, insufficientScope, invalidToken } from '#oauth-endpoint/token-challenges.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { toUuid } from '#platform/base/ids.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { Requester } from '#platform/log/request-line.ts';
import { parseToken } from '#protocol/oauth/token-format.ts';
import type { ClientId, UserId } from '#vocabulary/ids.ts';

/** The administrator who calls: a client with a user's token or its own, or a program with a personal token. */
export interface AdminCaller {
  /** Undefined for a personal token that belongs to a user. */
  readonly clientId: ClientId | undefined;
  readonly user: { readonly id: UserId; readonly username: string } | undefined;
  /**
   * The owner of what the caller creates. For a personal token it is the token's owner, so that no token outlives them.
   */
  readonly owner: PersonalOwner;
}

const SCOPE = 'urn:mas:admin';

/**
 * Rejects a change by which administrators would take away their own access.
 * @param id of the account, as a UUID
 * @throws LatchkeyError `not_your_own_account`
 */
export function refuseOwnAccount({ user }: AdminCaller, id: string): void {
  if (user !== undefined && toUuid(user.id) === id) throw new LatchkeyError('not_your_own_account');
}

/**
 * Returns the actor for users' events. It omits the administrator's address, which only other administrators may see.
 */
export function actorOf({ clientId, user }: AdminCaller): AuditActor {
  return { clientId, detail: { actor: 'admin', ...(user !== undefined && { admin: user.id }) } };
}

/**
 * Identifies the administrator behind a request (operations 4.1). Takes one statement, one more at the token's first
 * use, and one more for a DPoP proof. A malformed token takes no statement. Only well-formed tokens count against the
 * rate limit of the client's address.
 * @param path of the request, below the public base URL
 * @throws LatchkeyError `missing_token`, `invalid_token`, `invalid_dpop_proof`, `use_dpop_nonce`, `insufficient_scope`,
 * `rate_limited`
 */
export async function identifyAdmin(
  core: Core,
  proofs: DpopProofs,
  context: RequestContext,
  path: string,
): Promise<AdminCaller> {
  const { authorization } = context.headers;
  if (authorization === undefined) {
    throw new LatchkeyError('missing_token', { headers: { 'www-authenticate': 'Bearer' } });
  }
  const presented = headerToken(authorization);
  if (context.isAuthorizationRepeated) throw invalidToken('more than one Authorization header', false);
  if (presented === undefined || presented === 'malformed') {
    throw invalidToken('the Authorization header is neither Bearer nor DPoP with a token', false);
  }
  const { isBound } = presented;
  if (parseToken(presented.token) === undefined) throw invalidToken('the access token is malformed', isBound);
  const proofKey = isBound ? await proofs.ofToken(context, path, presented.token) : undefined;
  const token = await readToken(core, presented.token, proofKey?.thumbprint);
  if (token === undefined || token === 'bound') {
    const isEnded = 'the access token is unknown or expired, its session has ended, or it is bound to another key';
    throw await refused(core, context, invalidToken(isEnded, isBound || token === 'bound'));
  }
  await proofKey?.consume();
  const { caller, scope } = token;
  context.setRequester(token.requester);
  if (!scope.some((name) => core.scopeRules.classify(name) === 'admin')) {
    throw await refused(core, context, insufficientScope(SCOPE, isBound));
  }
  token.recordUse(context.clientAddress, context.userAgent);
  return caller;
}

/** A live token, reduced to what all kinds of tokens share. */
interface LiveToken {
  readonly caller: AdminCaller;
  readonly requester: Requester;
  readonly scope: readonly string[];
  recordUse(address: string | undefined, userAgent: string | undefined): void;
}

/** `bound`: live, but bound to a key other than the proven one. */
type FoundToken = LiveToken | 'bound' | undefined;

async function readToken(core: Core, text: string, key: string | undefined): Promise<FoundToken> {
  switch (parseToken(text)?.prefix) {
    case 'mat':
      return await readAccessToken(core, text, key);
    case 'mpt':
      // Personal tokens are never bound, so the scheme for bound tokens does not accept them.
      return key === undefined ? await readPersonalToken(core, text) : undefined;
    default:
      return undefined;
  }
}

async function readAccessToken(core: Core, text: string, key: string | undefined): Promise<FoundToken> {
  const { config, database, adminRights, clock, activity } = core;
  const now = clock.now();
  const binding = new BindingCheck(key);
  const token = await introspectToken(database, {
    kind: 'access-token',
    tokenHash: sha256(text),
    client: undefined,
    maySee: binding.maySee,
    settings: tokenSettings(config),
    rights: adminRights,
    now,
  });
  if (token === undefined || token === 'client-changed') return binding.isBoundElsewhere ? 'bound' : undefined;
  const { sessionId, clientId, user, scope } = token;
  return {
    caller: {
      clientId,
      user,
      owner: user === undefined ? { kind: 'client', id: clientId } : { kind: 'user', id: user.id },
    },
    requester: user === undefined ? { kind: 'oauth2-client', id: clientId } : { kind: 'user', ...user },
    scope,
    recordUse: (address, userAgent) => activity.recordOAuth2Session(sessionId, now, address, userAgent),
  };
}

async function readPersonalToken(core: Core, text: string): Promise<LiveToken | undefined> {
  const { database, adminRights, clock, activity } = core;
  const now = clock.now();
  const token = await introspectPersonalToken(database, {
    tokenHash: sha256(text),
    client: undefined,
    mayBeLocked: true,
    rights: adminRights,
    now,
  });
  if (token === undefined || token === 'client-changed') return undefined;
  const { sessionId, owner, user, scope } = token;
  return {
    caller: { clientId: owner.kind === 'client' ? owner.id : undefined, user, owner },
    requester: { kind: 'user', ...user },
    scope,
    recordUse: (address, userAgent) => activity.recordPersonalSession(sessionId, now, address, userAgent),
  };
}

/** Returns the failure, or a rate limit error if there were too many. */
async function refused(core: Core, { clientAddress }: RequestContext, failure: LatchkeyError): Promise<LatchkeyError> {
  const limiter = core.config.rateLimiting.adminToken.perIp;
  const taken = await chargeAddress(core, { name: 'admin-token', limiter, address: clientAddress });
  if (taken.ok) return failure;
  return new LatchkeyError('rate_limited', { retryAfterSeconds: taken.retryAfterSeconds });
}
