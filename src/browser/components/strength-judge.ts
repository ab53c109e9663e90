/** What a meter says of a new password. */
export interface StrengthVerdict {
  readonly kind: 'too-short' | 'common' | 'estimated';
  /** 0 to 4, as zxcvbn counts. */
  readonly score: number;
  readonly level: 'weak' | 'fair' | 'good';
}

/** What the password is held against, besides the words that everybody uses. */
export interface TypedPassword {
  readonly password: string;
  readonly username: string;
  /** Empty where the form has none. */
  readonly email: string;
}

interface Options {
  readonly minimumScore: number;
  /** In characters. */
  readonly minimumLength: number;
  /** Gives the password to the worker, whose answer goes to `answer`. */
  estimate(typed: TypedPassword): void;
  /** Undefined: there is nothing to say yet. */
  show(verdict: StrengthVerdict | undefined): void;
}

/**
 * Judges a new password while it is typed, with an estimator that takes its time: it gets one password at a time, and
 * an answer to what is no longer there is not shown. The server decides.
 */
export class StrengthJudge {
  readonly #options: Options;
  #typed: TypedPassword = { password: '', username: '', email: '' };
  #asked: TypedPassword | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  type(typed: TypedPassword): void {
    this.#typed = typed;
    const { minimumLength, estimate, show } = this.#options;
    if (typed.password === '') show(undefined);
    else if ([...typed.password].length < minimumLength) show({ kind: 'too-short', score: 0, level: 'weak' });
    else if (this.#asked === undefined) {
      this.#asked = typed;
      estimate(typed);
    }
  }

  /** Takes what the worker found. */
  answer({ score, isCommon }: { readonly score: number; readonly isCommon: boolean }): void {
    const asked = this.#asked;
    this.#asked = undefined;
    if (asked !== this.#typed) this.type(this.#typed);
    else if (isCommon) this.#options.show({ kind: 'common', score: 0, level: 'weak' });
    else this.#options.show({ kind: 'estimated', score, level: this.#levelOf(score) });
  }

  #levelOf(score: number): StrengthVerdict['level'] {
    if (score >= this.#options.minimumScore) return 'good';
    return score < 2 ? 'weak' : 'fair';
  }
}
