import { RE2JS } from 're2js';
import type { TextMatcher } from '#config/sections/policy.ts';

/** Search time grows with the length of the text. Valid names and real user agents are shorter than this. */
const MAX_SEARCHED_CHARACTERS = 512;

/** Matches no text. */
export const NOTHING: TextMatcher = { literals: [], prefixes: [], suffixes: [], substrings: [], regexes: [] };

const compiled = new WeakMap<TextMatcher, readonly RE2JS[]>();

/** Returns whether one of the matcher's texts or expressions matches, ignoring case. */
export function matches(matcher: TextMatcher, text: string): boolean {
  const key = text.toLowerCase();
  const some = (texts: readonly string[], test: (text: string) => boolean) =>
    texts.some((one) => test(one.toLowerCase()));
  return (
    some(matcher.literals, (one) => key === one) ||
    some(matcher.prefixes, (one) => key.startsWith(one)) ||
    some(matcher.suffixes, (one) => key.endsWith(one)) ||
    some(matcher.substrings, (one) => key.includes(one)) ||
    expressions(matcher).some((expression) => expression.matcher(text.slice(0, MAX_SEARCHED_CHARACTERS)).find())
  );
}

/** Returns whether the matcher has no texts or expressions and so matches nothing. */
export function isEmpty(matcher: TextMatcher): boolean {
  return Object.values(matcher).every((texts: readonly string[]) => texts.length === 0);
}

function expressions(matcher: TextMatcher): readonly RE2JS[] {
  const known = compiled.get(matcher) ?? matcher.regexes.map((one) => RE2JS.compile(one, RE2JS.CASE_INSENSITIVE));
  compiled.set(matcher, known);
  return known;
}
