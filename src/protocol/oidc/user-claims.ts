import { type ExtraClaims, NO_EXTRA_CLAIMS } from './extra-claims.ts';

/** What is known of a person, as far as claims can show it. */
export interface UserFacts {
  readonly username: string;
  readonly displayName: string | undefined;
  readonly locale: string | undefined;
  /** When one of the former last changed, milliseconds since the epoch. */
  readonly updatedAt: number;
  /** A confirmed address. */
  readonly email: string | undefined;
  /** Sorted. */
  readonly groups: readonly string[];
  /** Of the operator, shown with the scope `profile`. */
  readonly extra: ExtraClaims;
}

export interface UserClaims {
  readonly preferred_username?: string;
  readonly name?: string;
  readonly locale?: string;
  /** Seconds since the epoch. */
  readonly updated_at?: number;
  readonly email?: string;
  readonly email_verified?: true;
  readonly groups?: readonly string[];
}

export type UserClaimName = keyof UserClaims;

/** The scope that brings each claim, in the order in which metadata lists the claims. */
export const CLAIM_SCOPES: Readonly<Record<UserClaimName, 'profile' | 'email' | 'groups'>> = {
  preferred_username: 'profile',
  name: 'profile',
  email: 'email',
  email_verified: 'email',
  locale: 'profile',
  updated_at: 'profile',
  groups: 'groups',
};

export const USER_CLAIM_NAMES: readonly string[] = Object.keys(CLAIM_SCOPES);

export function isUserClaimName(name: unknown): name is UserClaimName {
  return typeof name === 'string' && Object.hasOwn(CLAIM_SCOPES, name);
}

/**
 * The claims that the scopes `profile`, `email` and `groups` stand for, in the ID token and at userinfo alike. What is
 * not known is left out; who is in no group has an empty list.
 * @param named claims that the client asked for one by one, whatever the scope
 * @see OpenID Connect Core 1.0 5.1, 5.4
 */
export function userClaims(
  facts: UserFacts,
  scope: readonly string[],
  named: readonly UserClaimName[] = [],
): UserClaims {
  const { username, displayName, locale, updatedAt, email, groups } = facts;
  const isWanted = (name: UserClaimName): boolean => scope.includes(CLAIM_SCOPES[name]) || named.includes(name);
  return {
    ...(isWanted('preferred_username') ? { preferred_username: username } : {}),
    // Clients that create accounts need a name of everybody.
    ...(isWanted('name') ? { name: displayName ?? username } : {}),
    ...(isWanted('locale') && locale !== undefined ? { locale } : {}),
    ...(isWanted('updated_at') ? { updated_at: Math.floor(updatedAt / 1000) } : {}),
    ...(isWanted('email') && email !== undefined ? { email } : {}),
    ...(isWanted('email_verified') && email !== undefined ? { email_verified: true } : {}),
    ...(isWanted('groups') ? { groups } : {}),
  };
}

/** All that goes out about a person, by where it comes from. */
export interface PersonClaims {
  /** Of the client, the same for everybody. */
  readonly client: ExtraClaims;
  /** Of the account. */
  readonly extra: ExtraClaims;
  readonly user: UserClaims;
}

/** @param ofClient what the operator says of everybody who signs in at the client */
export function personClaims(
  facts: UserFacts,
  scope: readonly string[],
  named: readonly UserClaimName[],
  ofClient: ExtraClaims,
): PersonClaims {
  const extra = scope.includes('profile') ? facts.extra : NO_EXTRA_CLAIMS;
  return { client: ofClient, extra, user: userClaims(facts, scope, named) };
}

/** One object: what is said of one account wins over what is said of all, and what this service knows over both. */
export function mergedClaims({ client, extra, user }: PersonClaims): Readonly<Record<string, unknown>> {
  return { ...client, ...extra, ...user };
}

/** So many bytes of claims make an ID token of at most some 8 KiB, with the largest key. */
const MAX_BYTES_IN_ID_TOKEN = 5000;

/**
 * What fits into an ID token, which travels in headers and cookies of applications: groups are left out first, then claims
 * of the account, then those of the client. Userinfo has them all.
 */
export function fittingClaims(claims: PersonClaims): {
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

function fits(claims: PersonClaims): boolean {
  return Buffer.byteLength(JSON.stringify(mergedClaims(claims))) <= MAX_BYTES_IN_ID_TOKEN;
}
