import type { ClientId, UserId } from '#vocabulary/ids.ts';
import type { AuditActor } from './audit-event.ts';

/** An administrator whose token changes another user's account. */
export interface Administrator {
  /** Undefined for a program with a personal token, which belongs to a user. */
  readonly clientId: ClientId | undefined;
  /** Undefined if the application acts for itself. */
  readonly userId: UserId | undefined;
}

/** Omits the administrator's IP address, which only other administrators may see. */
export function adminActor({ clientId, userId }: Administrator): AuditActor {
  return { clientId, detail: { actor: 'admin', ...(userId !== undefined && { admin: userId }) } };
}
