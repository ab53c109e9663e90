import type { HomeserverResult } from './homeserver.ts';

/** Error codes for an unavailable name. */
const TAKEN = new Set(['M_INVALID_USERNAME', 'M_USER_IN_USE', 'M_EXCLUSIVE']);

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII
const ASCII = /^[\u0000-\u007f]*$/;

/**
 * Returns whether to ask the homeserver about a name. No account can have a non-ASCII name, and Synapse responds to it
 * with an error.
 */
export function isAskable(localpart: string): boolean {
  return ASCII.test(localpart);
}

/** Returns whether a name is available, given the homeserver's response. */
export function availability(result: HomeserverResult<unknown>): HomeserverResult<boolean> {
  if (result.ok) return { ok: true, value: true };
  if (result.reason === 'refused' && TAKEN.has(result.errcode ?? '')) return { ok: true, value: false };
  return result;
}
