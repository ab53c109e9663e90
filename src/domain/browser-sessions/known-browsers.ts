import { parseId } from '#platform/base/ids.ts';
import { randomBytes } from '#platform/base/random.ts';
import type { UserId } from '#vocabulary/ids.ts';

/**
 * An account that has signed in with this browser, as listed in the `known` cookie. Its password checks are
 * rate-limited by this browser's nonce, so that password guessing elsewhere cannot lock out the owner (browser-flows
 * 3.2.5).
 */
export interface KnownBrowser {
  readonly user: UserId;
  readonly nonce: string;
}

const MAX_ACCOUNTS = 10;
const NONCE_BYTES = 16;
const NONCE = /^[A-Za-z0-9_-]{22}$/;

/** Parses the value of a decrypted `known` cookie. Skips malformed entries. */
export function parseKnownBrowsers(value: unknown): KnownBrowser[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown) => {
    if (typeof entry !== 'object' || entry === null || !('user' in entry) || !('nonce' in entry)) return [];
    if (typeof entry.user !== 'string' || typeof entry.nonce !== 'string' || !NONCE.test(entry.nonce)) return [];
    const user = parseId<'user'>(entry.user);
    return user === undefined ? [] : [{ user, nonce: entry.nonce }];
  });
}

/** Returns the nonce of this browser for the account; undefined if the account has not signed in here. */
export function nonceOf(known: readonly KnownBrowser[], user: UserId): string | undefined {
  return known.find((entry) => entry.user === user)?.nonce;
}

/** Moves the account to the front of the list and keeps its nonce. Drops the oldest entry beyond ten. */
export function rememberAccount(known: readonly KnownBrowser[], user: UserId): KnownBrowser[] {
  const entry = known.find((candidate) => candidate.user === user) ?? {
    user,
    nonce: randomBytes(NONCE_BYTES).toString('base64url'),
  };
  return [entry, ...known.filter((candidate) => candidate.user !== user)].slice(0, MAX_ACCOUNTS);
}
