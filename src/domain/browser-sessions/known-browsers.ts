import { parseId, type UserId } from '#platform/base/ids.ts';
import { randomBytes } from '#platform/base/random.ts';

/**
 * An account that has signed in from this browser, as the `known` cookie lists it. Its password is then counted under
 * the browser's own nonce, so that a stranger who guesses cannot lock the owner out (browser-flows 3.2.5).
 */
export interface KnownBrowser {
  readonly user: UserId;
  readonly nonce: string;
}

const MAX_ACCOUNTS = 10;
const NONCE_BYTES = 16;
const NONCE = /^[A-Za-z0-9_-]{22}$/;

/** Reads the value of an opened `known` cookie; malformed entries are left out. */
export function parseKnownBrowsers(value: unknown): KnownBrowser[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown) => {
    if (typeof entry !== 'object' || entry === null || !('user' in entry) || !('nonce' in entry)) return [];
    if (typeof entry.user !== 'string' || typeof entry.nonce !== 'string' || !NONCE.test(entry.nonce)) return [];
    const user = parseId<'user'>(entry.user);
    return user === undefined ? [] : [{ user, nonce: entry.nonce }];
  });
}

/** By which this browser is known for the account; undefined when nobody has signed in to it here. */
export function nonceOf(known: readonly KnownBrowser[], user: UserId): string | undefined {
  return known.find((entry) => entry.user === user)?.nonce;
}

/** The list with this account first, as the newest; its nonce stays, the oldest beyond ten is dropped. */
export function rememberAccount(known: readonly KnownBrowser[], user: UserId): KnownBrowser[] {
  const entry = known.find((candidate) => candidate.user === user) ?? {
    user,
    nonce: randomBytes(NONCE_BYTES).toString('base64url'),
  };
  return [entry, ...known.filter((candidate) => candidate.user !== user)].slice(0, MAX_ACCOUNTS);
}
