import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary as commonDictionary } from '@zxcvbn-ts/language-common';
import { dictionary as englishDictionary } from '@zxcvbn-ts/language-en';

/** What would make a password harder to guess, by the names of zxcvbn. */
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
  /** zxcvbn score, 0 (guessed at once) to 4. */
  readonly score: number;
  /** Among the 10,000 commonest passwords. */
  readonly isCommon: boolean;
  /** None for a password that is hard to guess. */
  readonly hints: readonly StrengthHint[];
}

const COMMONEST = 10_000;
// The work grows steeply with the length.
const MAX_ESTIMATED_CHARACTERS = 64;

// Sorted by how often they are used.
const commonest = new Set(commonDictionary['passwords-common'].slice(0, COMMONEST));
const zxcvbn = new ZxcvbnFactory({
  dictionary: { ...commonDictionary, ...englishDictionary },
  graphs: adjacencyGraphs,
});

/**
 * How hard a password is to guess, on the server and in the browser alike. Importing this loads the dictionaries,
 * 60 MB, and an estimate takes up to a second: both belong into a worker.
 * @param knownWords easy to guess for someone who knows the account
 * @param maxCharacters how much of the password the score is about
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
