import { fromUuid } from '#base/ids.ts';
import type { UserOfTokenRow } from '#domain/tokens/use-access-token.ts';

/** OpenID Connect Core 1.0 5.1, 5.4; what is undefined is left out when it is written as JSON. */
export interface UserinfoClaims {
  readonly sub: string;
  readonly username: string;
  readonly preferred_username?: string;
  readonly name?: string | undefined;
  readonly locale?: string | undefined;
  readonly email?: string;
  readonly email_verified?: true;
}

export function userinfoClaims(row: UserOfTokenRow): UserinfoClaims {
  return {
    sub: fromUuid(row.user_id),
    username: row.username,
    ...(row.scope.includes('profile')
      ? {
          preferred_username: row.username,
          name: row.display_name ?? undefined,
          locale: row.locale ?? undefined,
        }
      : {}),
    // Only confirmed addresses are stored.
    ...(row.email === null ? {} : { email: row.email, email_verified: true }),
  };
}
