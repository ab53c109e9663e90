import { Failure } from './problems.ts';

const MAX_STEPS = 50_000;
const MAX_MILLISECONDS = 50;
export const DEFAULT_MAX_OUTPUT_BYTES = 4096;
export const MAX_TURNS = 1000;

/** Text that is read or made for one step. */
const CHARACTERS_PER_STEP = 32;
/** Comparisons of characters for one step, where a text is searched for another. */
const COMPARISONS_PER_STEP = 256;
/** The clock is read once in so many steps: ordinary templates end before, also in a process that has to wait. */
const STEPS_PER_READING = 1000;

/**
 * What a template may use up. Steps bound the work whatever the machine does, since every operation pays for the text
 * and the elements that it goes through; the clock is the second bound, should a step cost more than was thought.
 */
export class Meter {
  readonly #now: () => number;
  readonly #startedAt: number;
  #steps = 0;
  #nextReading = STEPS_PER_READING;

  constructor(now: () => number) {
    this.#now = now;
    this.#startedAt = now();
  }

  spend(steps = 1): void {
    this.#steps += steps;
    if (this.#steps > MAX_STEPS)
      throw new Failure('needs too much work: the template goes through too much text or too many elements');
    if (this.#steps < this.#nextReading) return;
    this.#nextReading = this.#steps + STEPS_PER_READING;
    if (this.#now() - this.#startedAt > MAX_MILLISECONDS) {
      throw new Failure(`needs too much work: more than ${MAX_MILLISECONDS} milliseconds`);
    }
  }

  /** To be paid before a text of this length is made or gone through. */
  spendText(characters: number): void {
    this.spend(1 + Math.ceil(characters / CHARACTERS_PER_STEP));
  }

  /** To be paid before one text is searched for another: the worst case, which is their product. */
  spendSearch(text: string, wanted: string): void {
    this.spendText(text.length);
    this.spend(Math.ceil((text.length * wanted.length) / COMPARISONS_PER_STEP));
  }
}
