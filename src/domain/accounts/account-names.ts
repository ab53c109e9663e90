/** Which usernames and display names an account can have. */
import { parseIdOrUuid } from '#platform/base/ids.ts';

/** Codes of the rules that a new username breaks, as policies name them (browser-flows 5.5). */
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
 * Every rule that a name breaks; empty when it is valid. Whether it is taken is left to the database.
 * @param serverName of the identifier `@name:server`, which has to stay within 255 bytes
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
 * The text reads as an identifier (ULID or UUID, in either case). No account may choose such a name: what an operator
 * copies from a log or a list must never mean another account.
 */
export function isIdentifier(text: string): boolean {
  return parseIdOrUuid(text) !== undefined;
}

/**
 * What comparisons that ignore case use: the ASCII letters in lower case, as `lower(... collate "C")` in PostgreSQL.
 * Never Unicode case folding, by which the Kelvin sign is a k.
 */
export function usernameKey(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Equal for names that a reader could confuse: case, width and surrounding white space are removed. */
export function foldUsername(name: string): string {
  return name.normalize('NFKC').trim().toLowerCase();
}

/** Why a display name is refused. */
export type DisplayNameProblem = 'empty' | 'too-long' | 'forbidden-characters' | 'invisible';

export type DisplayNameJudgment =
  | { readonly ok: true; readonly name: string }
  | { readonly ok: false; readonly problem: DisplayNameProblem };

const MAX_DISPLAY_NAME_CHARACTERS = 255;
// Control characters, line separators, and those that change the direction of the text around the name.
const UNWANTED_IN_DISPLAY_NAME = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;
// Fillers and the empty Braille pattern are letters and symbols that nobody sees.
const BLANK = /[\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Judges a display name without the white space around it. */
export function judgeDisplayName(text: string): DisplayNameJudgment {
  const name = text.trim();
  const characters = [...name];
  if (characters.length === 0) return { ok: false, problem: 'empty' };
  if (characters.length > MAX_DISPLAY_NAME_CHARACTERS) return { ok: false, problem: 'too-long' };
  if (UNWANTED_IN_DISPLAY_NAME.test(name)) return { ok: false, problem: 'forbidden-characters' };
  const isVisible = characters.some((character) => VISIBLE.test(character) && !BLANK.test(character));
  return isVisible ? { ok: true, name } : { ok: false, problem: 'invisible' };
}

/** The display name without surrounding white space; undefined when it is not a valid one. */
export function parseDisplayName(text: string): string | undefined {
  const judged = judgeDisplayName(text);
  return judged.ok ? judged.name : undefined;
}

/** What programs and operators read of a display name that is refused. */
export const DISPLAY_NAME_REASONS: Readonly<Record<DisplayNameProblem, string>> = {
  empty: 'it is empty',
  'too-long': `it has more than ${MAX_DISPLAY_NAME_CHARACTERS} characters`,
  'forbidden-characters': 'it has a control character, or one that changes the direction of text',
  invisible: 'it has no visible character',
};
