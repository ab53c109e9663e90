/**
 * Suggests free usernames in place of a taken one (browser-flows 5.5). The digits are random, so the suggestions do not
 * reveal which similar names are taken.
 */
import { randomInt } from 'node:crypto';
import type { Queryable } from '#platform/postgres/database.ts';
import { usernameKey } from '../account-names.ts';
import { listUsernamesLike } from '../find-user.ts';
import { brokenRules, type NamePolicy } from './registration-policy.ts';

const MAX_SUGGESTIONS = 3;
/** Two candidates of each length, so that one of each is usually free. */
const DIGITS = [2, 3, 4, 2, 3, 4] as const;
const MAX_IDENTIFIER_BYTES = 255;

/**
 * @param taken the entered name, which an account already has
 * @returns up to three names that the operator's lists accept and no account has
 */
export async function suggestFreeNames(queryable: Queryable, taken: string, policy: NamePolicy): Promise<string[]> {
  const room = MAX_IDENTIFIER_BYTES - Buffer.byteLength(`@:${policy.serverName}`) - Math.max(...DIGITS);
  const stem = usernameKey(taken.trim()).slice(0, room);
  const candidates = DIGITS.map((digits) => `${stem}${randomInt(10 ** (digits - 1), 10 ** digits)}`);
  const allowed = [...new Set(candidates)].filter((name) => brokenRules(name, policy).length === 0);
  if (allowed.length === 0) return [];
  const existing = new Set((await listUsernamesLike(queryable, allowed)).map(usernameKey));
  return allowed.filter((name) => !existing.has(name)).slice(0, MAX_SUGGESTIONS);
}
