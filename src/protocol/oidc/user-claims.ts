/** What is known of a person, as far as claims can show it. */
export interface UserFacts {
  readonly username: string;
  readonly displayName: string | undefined;
  readonly locale: string | undefined;
  /** A confirmed address. */
  readonly email: string | undefined;
}

export interface UserClaims {
  readonly preferred_username?: string;
  readonly name?: string;
  readonly locale?: string;
  readonly email?: string;
  readonly email_verified?: true;
}

/**
 * The claims that the scopes `profile` and `email` stand for, in the ID token and at userinfo alike. What is not known
 * is left out.
 * @see OpenID Connect Core 1.0 5.1, 5.4
 */
export function userClaims(facts: UserFacts, scope: readonly string[]): UserClaims {
  const { username, displayName, locale, email } = facts;
  return {
    ...(scope.includes('profile')
      ? {
          preferred_username: username,
          ...(displayName === undefined ? {} : { name: displayName }),
          ...(locale === undefined ? {} : { locale }),
        }
      : {}),
    ...(scope.includes('email') && email !== undefined ? { email, email_verified: true } : {}),
  };
}
