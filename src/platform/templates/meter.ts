import { Failure } from './problems.ts';

const MAX_STEPS = 50_000;
const MAX_MILLISECONDS = 50;
export const DEFAULT_MAX_OUTPUT_BYTES = 4096;
export const MAX_TURNS = 1000;

/** Characters read or created per step. */
const CHARACTERS_PER_STEP = 32;
/** Character comparisons per step when searching a text. */
const COMPARISONS_PER_STEP = 256;
/**
 * The clock is read once per this many steps. Ordinary templates finish earlier, even in a process that has to wait.
 */
const STEPS_PER_READING = 1000;

/**
 * Limits the cost of a template. Every operation pays in steps for the text and elements that it processes, which
 * limits the work regardless of the machine. The clock is a second limit, in case a step costs more than expected.
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
      throw new Failure('exceeds the work limit: the template processes too much text or too many elements');
    if (this.#steps < this.#nextReading) return;
    this.#nextReading = this.#steps + STEPS_PER_READING;
    if (this.#now() - this.#startedAt > MAX_MILLISECONDS) {
      throw new Failure(`exceeds the work limit of ${MAX_MILLISECONDS} milliseconds`);
    }
  }

  /** Call before creating or processing a text of this length. */
  spendText(characters: number): void {
    this.spend(1 + Math.ceil(characters / CHARACTERS_PER_STEP));
  }

  /** Call before searching a text. Charges the worst case, the product of both lengths. */
  spendSearch(text: string, wanted: string): void {
    this.spendText(text.length);
    this.spend(Math.ceil((text.length * wanted.length) / COMPARISONS_PER_STEP));
  }
}
