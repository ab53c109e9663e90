import { adminActor } from '#domain/audit/administrator.ts';
import type { AuditActor } from '#domain/audit/audit-event.ts';
import type { UserId } from '#platform/base/ids.ts';
import type { AccountContext } from './account-context.ts';

/** Returns the actor that the audit log records for a change to this user's account. */
export function actorOf({ caller, request }: AccountContext, user: UserId): AuditActor {
  const from = { address: request.clientAddress, userAgent: request.userAgent };
  if (caller.kind !== 'oauth') return from;
  const { clientId } = caller;
  if (!caller.isAdmin || caller.user?.id === user) return { ...from, clientId };
  return adminActor({ clientId, userId: caller.user?.id });
}
