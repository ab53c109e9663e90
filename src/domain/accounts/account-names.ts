/** Rules for usernames and display names. */
import { parseIdOrUuid } from '#platform/base/ids.ts';

/** Codes of the rules that a new username can violate, named as in policies (browser-flows 5.5). */
export type UsernameProblem =
  | 'username-too-short'
  | 'username-too-long'
  | 'username-all-numeric'
  | 'username-invalid-chars'
  | 'username-identifier'
  | 'username-reserved';

const MAX_IDENTIFIER_BYTES = 255;
const GRAMMAR = /^[a-z0-9.=_/+-]+$/;
const RESERVED = new Set(['.', '..']);

/**
 * Returns every rule that a name violates; empty if it is valid. Uniqueness is left to the database.
 * @param serverName server part of the identifier `@name:server`, which is limited to 255 bytes
 */
export function usernameProblems(name: string, serverName: string): UsernameProblem[] {
  if (name === '') return ['username-too-short'];
  const problems: UsernameProblem[] = [];
  if (Buffer.byteLength(`@${name}:${serverName}`) > MAX_IDENTIFIER_BYTES) problems.push('username-too-long');
  if (/^[0-9]+$/.test(name)) problems.push('username-all-numeric');
  if (!GRAMMAR.test(name)) problems.push('username-invalid-chars');
  if (isIdentifier(name)) problems.push('username-identifier');
  if (name.startsWith('_') || RESERVED.has(name)) problems.push('username-reserved');
  return problems;
}

/**
 * Returns whether the text looks like an ID (ULID or UUID, in either case). New accounts cannot have one as name, so
 * that an ID copied from a log or a list never refers to a different account.
 */
export function isIdentifier(text: string): boolean {
  return parseIdOrUuid(text) !== undefined;
}

/**
 * Returns the key for case-insensitive comparison: ASCII letters in lower case, like `lower(... collate "C")` in
 * PostgreSQL. Unicode case folding is avoided because it maps the Kelvin sign to k.
 */
export function usernameKey(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Returns the same text for names that readers could confuse: ignores case, width and surrounding whitespace. */
export function foldUsername(name: string): string {
  return name.normalize('NFKC').trim().toLowerCase();
}

/** Why a display name is rejected. */
export type DisplayNameProblem = 'empty' | 'too-long' | 'forbidden-characters' | 'invisible';

export type DisplayNameJudgment =
  | { readonly ok: true; readonly name: string }
  | { readonly ok: false; readonly problem: DisplayNameProblem };

const MAX_DISPLAY_NAME_CHARACTERS = 255;
// Control characters, line separators, and characters that change the direction of the surrounding text.
const UNWANTED_IN_DISPLAY_NAME = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;
// Fillers and the empty Braille pattern count as letters and symbols, but are invisible.
const BLANK = /[\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Validates a display name after trimming it. */
export function checkDisplayName(text: string): DisplayNameJudgment {
  const name = text.trim();
  const characters = [...name];
  if (characters.length === 0) return { ok: false, problem: 'empty' };
  if (characters.length > MAX_DISPLAY_NAME_CHARACTERS) return { ok: false, problem: 'too-long' };
  if (UNWANTED_IN_DISPLAY_NAME.test(name)) return { ok: false, problem: 'forbidden-characters' };
  const isVisible = characters.some((character) => VISIBLE.test(character) && !BLANK.test(character));
  return isVisible ? { ok: true, name } : { ok: false, problem: 'invisible' };
}

/** Returns the trimmed display name; undefined if it is invalid. */
export function parseDisplayName(text: string): string | undefined {
  const judged = checkDisplayName(text);
  return judged.ok ? judged.name : undefined;
}

/** Reasons for rejecting a display name, for API clients and operators. */
export const DISPLAY_NAME_REASONS: Readonly<Record<DisplayNameProblem, string>> = {
  empty: 'must not be empty',
  'too-long': `must have at most ${MAX_DISPLAY_NAME_CHARACTERS} characters`,
  'forbidden-characters': 'must not contain control characters or characters that change the text direction',
  invisible: 'must contain a visible character',
};
