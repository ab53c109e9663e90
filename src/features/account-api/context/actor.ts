import { adminActor } from '#domain/audit/administrator.ts';
import type { AuditActor } from '#domain/audit/audit-event.ts';
import type { UserId } from '#vocabulary/ids.ts';
import type { AccountContext } from './account-context.ts';
import type { Caller } from './caller.ts';

/**
 * Returns the actor that the audit log records for a change to this user's account.
 * @param user undefined for what belongs to a client
 */
export function actorOf({ caller, request }: AccountContext, user: UserId | undefined): AuditActor {
  const from = { address: request.clientAddress, userAgent: request.userAgent };
  if (caller.kind !== 'oauth') return from;
  const { clientId } = caller;
  if (!actsAsAdministrator(caller, user)) return { ...from, clientId };
  return adminActor({ clientId, userId: caller.user?.id });
}

/** Returns whether a caller who may change this user's account is an administrator, and not the user. */
export function actsAsAdministrator(caller: Caller, user: UserId | undefined): boolean {
  return mayActAsAdministrator(caller) && (user === undefined || caller.user?.id !== user);
}

/** Returns whether a caller may change accounts of other users. */
export function mayActAsAdministrator(caller: Caller): caller is Extract<Caller, { readonly kind: 'oauth' }> {
  return caller.kind === 'oauth' && caller.isAdmin;
}
