/** What the main thread asks the strength worker. */
export interface StrengthQuestion {
  readonly id: number;
  readonly password: string;
  /** Words that are easy to guess for whoever knows the account. */
  readonly knownWords: readonly string[];
}

export interface StrengthAnswer extends Strength {
  readonly id: number;
}

export interface Strength {
  /** zxcvbn score, 0 (guessed at once) to 4. */
  readonly score: number;
  /** Among the 10,000 commonest passwords. */
  readonly isCommon: boolean;
}
