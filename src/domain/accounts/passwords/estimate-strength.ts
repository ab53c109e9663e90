import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary as commonDictionary } from '@zxcvbn-ts/language-common';
import { dictionary as englishDictionary } from '@zxcvbn-ts/language-en';

/** Hints for a stronger password, named as in zxcvbn. */
export const STRENGTH_HINTS = [
  'allUppercase',
  'anotherWord',
  'associatedYears',
  'capitalization',
  'dates',
  'l33t',
  'longerKeyboardPattern',
  'noNeed',
  'recentYears',
  'repeated',
  'reverseWords',
  'sequences',
  'useWords',
] as const;
export type StrengthHint = (typeof STRENGTH_HINTS)[number];

export interface Strength {
  /** zxcvbn score from 0 (guessed immediately) to 4. */
  readonly score: number;
  /** Whether it is one of the 10,000 most common passwords. */
  readonly isCommon: boolean;
  /** Empty if the password is hard to guess. */
  readonly hints: readonly StrengthHint[];
}

const COMMONEST = 10_000;
// The estimate gets much slower with the length.
const MAX_ESTIMATED_CHARACTERS = 64;

// Sorted by frequency.
const commonest = new Set(commonDictionary['passwords-common'].slice(0, COMMONEST));
const zxcvbn = new ZxcvbnFactory({
  dictionary: { ...commonDictionary, ...englishDictionary },
  graphs: adjacencyGraphs,
});

/**
 * Estimates how hard a password is to guess, both on the server and in the browser. Importing this module loads 60 MB
 * of dictionaries, and an estimate can take up to a second. Use it in a worker only.
 * @param knownWords words that are easy to guess for an attacker who knows the account
 * @param maxCharacters number of characters to score
 */
export function estimateStrength(
  password: string,
  knownWords: readonly string[],
  maxCharacters = MAX_ESTIMATED_CHARACTERS,
): Strength {
  const estimated = [...password].slice(0, maxCharacters).join('');
  const { feedback, score } = zxcvbn.check(estimated, [...knownWords]);
  return {
    score,
    isCommon: commonest.has(password) || commonest.has(password.toLowerCase()),
    hints: STRENGTH_HINTS.filter((hint) => feedback.suggestions.includes(hint)),
  };
}
