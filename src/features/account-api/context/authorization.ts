/** What callers may read, and the checks that mutations make before anything else (account-graphql 2.2, 2.5). */
import type { Browser } from '#browser/browser.ts';
import type { Administrator } from '#domain/audit/administrator.ts';
import type { Core } from '#domain/core.ts';
import { isRecent } from '#platform/base/clock.ts';
import { chatNames } from '#protocol/chat/names.ts';
import type { ClientId, UserId } from '#vocabulary/ids.ts';
import type { Caller } from './caller.ts';
import { refusal } from './graphql-refusal.ts';

/** Whose objects a caller may read. Undefined means none. */
export type Readable = UserId | 'anybody' | undefined;

/** The part of `AccountContext` that authorization depends on. */
interface Requested {
  readonly core: Core;
  readonly browser: Browser;
  readonly caller: Caller;
  readonly reads: Readable;
}

export function readableBy(caller: Caller): Readable {
  if (caller.kind === 'oauth') return caller.isAdmin ? 'anybody' : caller.user?.id;
  return caller.kind === 'browser' ? caller.user.id : undefined;
}

/**
 * Rule "cookie": the caller is a user in a browser. Tokens are not accepted, not even an administrator's.
 * @throws GraphQLError `UNAUTHENTICATED`, `FORBIDDEN`
 * @public for the mutations of this rule
 */
export function requireBrowser({ caller }: Requested): Extract<Caller, { readonly kind: 'browser' }> {
  if (caller.kind !== 'browser') throw unauthorized(caller);
  return caller;
}

/**
 * Rule "self": the caller is this user, or an administrator.
 * @throws GraphQLError `UNAUTHENTICATED`, `FORBIDDEN`
 * @public for the mutations of this rule
 */
export function requireSelf({ caller, reads }: Requested, user: UserId): void {
  if (reads !== 'anybody' && reads !== user) throw unauthorized(caller);
}

/**
 * Rule "admin": the caller has an administrator's token.
 * @returns the administrator, for the audit log
 * @throws GraphQLError `UNAUTHENTICATED`, `FORBIDDEN`
 * @public for the mutations of this rule
 */
export function requireAdmin({ caller }: Pick<Requested, 'caller'>): Administrator & { readonly clientId: ClientId } {
  if (caller.kind !== 'oauth' || !caller.isAdmin) throw unauthorized(caller);
  return { clientId: caller.clientId, userId: caller.user?.id };
}

/**
 * Requires reauthentication if the user last authenticated more than `account.reauth_max_age` ago. It guards each
 * change that would give someone else at the user's browser lasting control of the account (account-graphql 2.5).
 * Administrators are exempt. Other tokens are rejected, because they do not show when the user last authenticated.
 * @param action name of the account action, without its prefix, that leads back to the page
 * @throws GraphQLError `REAUTH_REQUIRED`
 * @public for sensitive mutations
 */
export function requireRecentAuthentication({ caller, reads, core, browser }: Requested, action?: string): void {
  const maxAge = core.config.account.reauthMaxAgeSeconds;
  if (maxAge === undefined || reads === 'anybody') return;
  if (caller.kind === 'browser' && isRecent(caller.session.authenticatedAt, maxAge * 1000, core.clock.now())) return;
  const { actionPrefix } = chatNames(core.config.protocolName);
  const account = action === undefined ? undefined : { action: `${actionPrefix}${action}` };
  const reauthUrl = browser.urls.reauth({ kind: 'manage_account', ...(account !== undefined && { account }) });
  throw refusal('REAUTH_REQUIRED', 'Reauthentication is required.', { reauthUrl, maxAge });
}

/** Clients know this one message for both codes (account-graphql 1.5). */
function unauthorized(caller: Caller): Error {
  const hasViewer = caller.kind === 'browser' || (caller.kind === 'oauth' && caller.user !== undefined);
  return refusal(hasViewer ? 'FORBIDDEN' : 'UNAUTHENTICATED', 'Unauthorized');
}
