import type { ClientId, UserId } from '#platform/base/ids.ts';
import type { AuditActor } from './audit-event.ts';

/** Who changes the account of somebody else by the token of an administrator. */
export interface Administrator {
  /** Undefined: a program with a personal token, which belongs to a person. */
  readonly clientId: ClientId | undefined;
  /** Undefined: the application acts for itself. */
  readonly userId: UserId | undefined;
}

/** Where they are is nobody's business but that of other administrators. */
export function adminActor({ clientId, userId }: Administrator): AuditActor {
  return { clientId, detail: { actor: 'admin', ...(userId !== undefined && { admin: userId }) } };
}
