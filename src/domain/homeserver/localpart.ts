import type { HomeserverResult } from './homeserver.ts';

/** Answers of the homeserver that a name is not to be had. */
const TAKEN = new Set(['M_INVALID_USERNAME', 'M_USER_IN_USE', 'M_EXCLUSIVE']);

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII
const ASCII = /^[\u0000-\u007f]*$/;

/** Synapse answers an error to a name outside of ASCII, which nobody can have. */
export function isAskable(localpart: string): boolean {
  return ASCII.test(localpart);
}

/** Whether a name can be had, by the answer to the question. */
export function availability(result: HomeserverResult<unknown>): HomeserverResult<boolean> {
  if (result.ok) return { ok: true, value: true };
  if (result.reason === 'refused' && TAKEN.has(result.errcode ?? '')) return { ok: true, value: false };
  return result;
}
