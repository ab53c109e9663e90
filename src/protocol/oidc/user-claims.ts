import { type ExtraClaims, NO_EXTRA_CLAIMS } from './extra-claims.ts';

/** User data available for claims. */
export interface UserFacts {
  readonly username: string;
  readonly displayName: string | undefined;
  readonly givenName: string | undefined;
  readonly familyName: string | undefined;
  /** Name in the IANA time zone database. */
  readonly timeZone: string | undefined;
  readonly locale: string | undefined;
  /** When any of the above last changed, in milliseconds since the epoch. */
  readonly updatedAt: number;
  /** A confirmed address. */
  readonly email: string | undefined;
  /** Sorted. */
  readonly groups: readonly string[];
  /** Extra claims set by the operator, returned with the scope `profile`. */
  readonly extra: ExtraClaims;
}

export interface UserClaims {
  readonly preferred_username?: string;
  readonly name?: string;
  readonly given_name?: string;
  readonly family_name?: string;
  readonly zoneinfo?: string;
  readonly locale?: string;
  /** Seconds since the epoch. */
  readonly updated_at?: number;
  readonly email?: string;
  readonly email_verified?: true;
  readonly groups?: readonly string[];
}

export type UserClaimName = keyof UserClaims;

/** The scope of each claim, in the order of the metadata. */
export const CLAIM_SCOPES: Readonly<Record<UserClaimName, 'profile' | 'email' | 'groups'>> = {
  preferred_username: 'profile',
  name: 'profile',
  given_name: 'profile',
  family_name: 'profile',
  email: 'email',
  email_verified: 'email',
  zoneinfo: 'profile',
  locale: 'profile',
  updated_at: 'profile',
  groups: 'groups',
};

export const USER_CLAIM_NAMES: readonly string[] = Object.keys(CLAIM_SCOPES);

export function isUserClaimName(name: unknown): name is UserClaimName {
  return typeof name === 'string' && Object.hasOwn(CLAIM_SCOPES, name);
}

/**
 * Returns the claims of the scopes `profile`, `email` and `groups`, for ID tokens and userinfo alike. Unknown values
 * are omitted. A user without groups has an empty list.
 * @param named claims that the client requested individually, regardless of scope
 * @see OpenID Connect Core 1.0 5.1, 5.4
 */
export function userClaims(
  facts: UserFacts,
  scope: readonly string[],
  named: readonly UserClaimName[] = [],
): UserClaims {
  const { username, displayName, givenName, familyName, timeZone, locale, updatedAt, email, groups } = facts;
  const isWanted = (name: UserClaimName): boolean => scope.includes(CLAIM_SCOPES[name]) || named.includes(name);
  return {
    ...(isWanted('preferred_username') ? { preferred_username: username } : {}),
    // Clients that create accounts need a name for every user.
    ...(isWanted('name') ? { name: displayName ?? username } : {}),
    ...(isWanted('given_name') && givenName !== undefined ? { given_name: givenName } : {}),
    ...(isWanted('family_name') && familyName !== undefined ? { family_name: familyName } : {}),
    ...(isWanted('zoneinfo') && timeZone !== undefined ? { zoneinfo: timeZone } : {}),
    ...(isWanted('locale') && locale !== undefined ? { locale } : {}),
    ...(isWanted('updated_at') ? { updated_at: Math.floor(updatedAt / 1000) } : {}),
    ...(isWanted('email') && email !== undefined ? { email } : {}),
    ...(isWanted('email_verified') && email !== undefined ? { email_verified: true } : {}),
    ...(isWanted('groups') ? { groups } : {}),
  };
}

/** All claims about a user, by origin. */
export interface ClaimsOfUser {
  /** Claims of the client, the same for all users. */
  readonly client: ExtraClaims;
  /** Claims of the account. */
  readonly extra: ExtraClaims;
  readonly user: UserClaims;
}

/** @param ofClient claims that the operator sets for all users of the client */
export function claimsOfUser(
  facts: UserFacts,
  scope: readonly string[],
  named: readonly UserClaimName[],
  ofClient: ExtraClaims,
): ClaimsOfUser {
  const extra = scope.includes('profile') ? facts.extra : NO_EXTRA_CLAIMS;
  return { client: ofClient, extra, user: userClaims(facts, scope, named) };
}

/** Claims with values that users enter, unless an administrator sets the claim for the account. */
export const ENTERED_CLAIM_NAMES = ['given_name', 'family_name', 'zoneinfo'] as const satisfies UserClaimName[];

/**
 * Merges the claims. Account claims override client claims, and the server's own claims override both, except where
 * users enter the value.
 */
export function mergedClaims({ client, extra, user }: ClaimsOfUser): Readonly<Record<string, unknown>> {
  const merged: Record<string, unknown> = { ...client, ...extra, ...user };
  for (const name of ENTERED_CLAIM_NAMES) if (Object.hasOwn(extra, name)) merged[name] = extra[name];
  return merged;
}

/** With this many bytes of claims, an ID token has at most about 8 KiB, with the largest key. */
const MAX_BYTES_IN_ID_TOKEN = 5000;

/**
 * Returns the claims that fit into an ID token, which applications put into headers and cookies. Omits groups first,
 * then account claims, then client claims. Userinfo has all of them.
 */
export function fittingClaims(claims: ClaimsOfUser): {
  readonly claims: Readonly<Record<string, unknown>>;
  readonly leftOut: readonly ('groups' | 'account' | 'client')[];
} {
  const { groups: _, ...user } = claims.user;
  const withoutGroups = { ...claims, user };
  const withoutExtra = { ...withoutGroups, extra: NO_EXTRA_CLAIMS };
  if (fits(claims)) return { claims: mergedClaims(claims), leftOut: [] };
  if (fits(withoutGroups)) return { claims: mergedClaims(withoutGroups), leftOut: ['groups'] };
  if (fits(withoutExtra)) return { claims: mergedClaims(withoutExtra), leftOut: ['groups', 'account'] };
  return { claims: user, leftOut: ['groups', 'account', 'client'] };
}

function fits(claims: ClaimsOfUser): boolean {
  return Buffer.byteLength(JSON.stringify(mergedClaims(claims))) <= MAX_BYTES_IN_ID_TOKEN;
}
