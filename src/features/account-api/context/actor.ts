import { adminActor } from '#domain/audit/administrator.ts';
import type { AuditActor } from '#domain/audit/audit-event.ts';
import type { UserId } from '#platform/base/ids.ts';
import type { AccountContext } from './account-context.ts';

/** Who changes the account of this person, for the audit log. */
export function actorOf({ caller, request }: AccountContext, user: UserId): AuditActor {
  const from = { address: request.clientAddress, userAgent: request.userAgent };
  if (caller.kind !== 'oauth') return from;
  const { clientId } = caller;
  if (!caller.isAdmin || caller.user?.id === user) return { ...from, clientId };
  return adminActor({ clientId, userId: caller.user?.id });
}
