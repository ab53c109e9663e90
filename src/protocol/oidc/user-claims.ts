/** What is known of a person, as far as claims can show it. */
export interface UserFacts {
  readonly username: string;
  readonly displayName: string | undefined;
  readonly locale: string | undefined;
  /** When one of the former last changed, milliseconds since the epoch. */
  readonly updatedAt: number;
  /** A confirmed address. */
  readonly email: string | undefined;
}

export interface UserClaims {
  readonly preferred_username?: string;
  readonly name?: string;
  readonly locale?: string;
  /** Seconds since the epoch. */
  readonly updated_at?: number;
  readonly email?: string;
  readonly email_verified?: true;
}

export type UserClaimName = keyof UserClaims;

/** The scope that brings each claim, in the order in which metadata lists the claims. */
export const CLAIM_SCOPES: Readonly<Record<UserClaimName, 'profile' | 'email'>> = {
  preferred_username: 'profile',
  name: 'profile',
  email: 'email',
  email_verified: 'email',
  locale: 'profile',
  updated_at: 'profile',
};

export const USER_CLAIM_NAMES: readonly string[] = Object.keys(CLAIM_SCOPES);

export function isUserClaimName(name: unknown): name is UserClaimName {
  return typeof name === 'string' && Object.hasOwn(CLAIM_SCOPES, name);
}

/**
 * The claims that the scopes `profile` and `email` stand for, in the ID token and at userinfo alike. What is not known
 * is left out.
 * @param named claims that the client asked for one by one, whatever the scope
 * @see OpenID Connect Core 1.0 5.1, 5.4
 */
export function userClaims(
  facts: UserFacts,
  scope: readonly string[],
  named: readonly UserClaimName[] = [],
): UserClaims {
  const { username, displayName, locale, updatedAt, email } = facts;
  const isWanted = (name: UserClaimName): boolean => scope.includes(CLAIM_SCOPES[name]) || named.includes(name);
  return {
    ...(isWanted('preferred_username') ? { preferred_username: username } : {}),
    ...(isWanted('name') && displayName !== undefined ? { name: displayName } : {}),
    ...(isWanted('locale') && locale !== undefined ? { locale } : {}),
    ...(isWanted('updated_at') ? { updated_at: Math.floor(updatedAt / 1000) } : {}),
    ...(isWanted('email') && email !== undefined ? { email } : {}),
    ...(isWanted('email_verified') && email !== undefined ? { email_verified: true } : {}),
  };
}
