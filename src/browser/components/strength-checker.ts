/** What a meter says about a new password. */
export interface StrengthRating {
  readonly kind: 'too-short' | 'common' | 'estimated';
  /** 0 to 4, the scale of zxcvbn. */
  readonly score: number;
  readonly level: 'weak' | 'fair' | 'good';
}

/** What the password is compared with, in addition to the common words. */
export interface TypedPassword {
  readonly password: string;
  readonly username: string;
  /** Empty if the form has no email field. */
  readonly email: string;
}

interface Options {
  readonly minimumScore: number;
  /** In characters. */
  readonly minimumLength: number;
  /** Passes the password to the worker, whose result goes to `answer`. */
  estimate(typed: TypedPassword): void;
  /** Undefined if there is nothing to show yet. */
  show(verdict: StrengthRating | undefined): void;
}

/**
 * Judges a new password while the user types, with a slow estimator. The estimator gets one password at a time, and
 * results for outdated input are not shown. The server has the final decision.
 */
export class StrengthChecker {
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

  /** Takes the worker's result. */
  answer({ score, isCommon }: { readonly score: number; readonly isCommon: boolean }): void {
    const requested = this.#asked;
    this.#asked = undefined;
    if (requested !== this.#typed) this.type(this.#typed);
    else if (isCommon) this.#options.show({ kind: 'common', score: 0, level: 'weak' });
    else this.#options.show({ kind: 'estimated', score, level: this.#levelOf(score) });
  }

  #levelOf(score: number): StrengthRating['level'] {
    if (score >= this.#options.minimumScore) return 'good';
    return score < 2 ? 'weak' : 'fair';
  }
}
