/** What the main thread asks a strength worker, one question at a time. */
export interface StrengthQuestion {
  readonly password: string;
  /** Words that are easy to guess for whoever knows the account. */
  readonly knownWords: readonly string[];
  /** How much of the password is judged; undefined: as much as is usual. */
  readonly maxCharacters: number | undefined;
}

/** What the worker sends: that it has taken the question up, then the answer. */
export type StrengthReply = 'begun' | Strength;

export interface Strength {
  /** zxcvbn score, 0 (guessed at once) to 4. */
  readonly score: number;
  /** Among the 10,000 commonest passwords. */
  readonly isCommon: boolean;
}
