import type { UserId } from '#platform/base/ids.ts';

/** A person's account. Locked: everything is refused while it lasts. Deactivated: for good, the name stays taken. */
export interface User {
  readonly id: UserId;
  readonly username: string;
  readonly displayName: string | undefined;
  readonly locale: string | undefined;
  readonly canRequestAdmin: boolean;
  readonly isLocked: boolean;
  readonly isDeactivated: boolean;
}
