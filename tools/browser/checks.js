import { inspect } from 'node:util';

/** With more failed groups, the machine is not the cause. */
const MAX_REPEATS = 5;

/** Counts passed and failed checks. A failure is printed immediately and does not end the run. */
export class Checks {
  #passed = 0;
  #failures = [];
  #repeats = 0;

  /**
   * @param work throws if the claim does not hold
   * @returns whether it holds
   */
  async that(claim, work) {
    try {
      await work();
      this.#passed += 1;
      return true;
    } catch (error) {
      this.#fail(claim, error);
      return false;
    }
  }

  /**
   * Runs a group of checks, and repeats the group alone if one fails, because a busy machine can be too slow for a
   * step. A second failure counts; a first failure is only reported.
   * @param work receives the counter, and starts from scratch when repeated
   */
  async group(name, work) {
    const first = await Checks.#attempt(name, work);
    const isRepeated = first.#failures.length > 0 && this.#repeats < MAX_REPEATS;
    if (isRepeated) {
      this.#repeats += 1;
      for (const claim of first.#failures) say(`failed the first time: ${claim}`);
    }
    const counted = isRepeated ? await Checks.#attempt(name, work) : first;
    this.#passed += counted.#passed;
    this.#failures.push(...counted.#failures);
  }

  /**
   * Prints the summary.
   * @returns the exit code
   */
  close() {
    for (const claim of this.#failures) say(`FAILED: ${claim}`);
    say(`${this.#passed} passed, ${this.#failures.length} failed`);
    return this.#failures.length === 0 && this.#passed > 0 ? 0 : 1;
  }

  static async #attempt(name, work) {
    const checks = new Checks();
    try {
      await work(checks);
    } catch (error) {
      checks.#fail(`${name} can be checked`, error);
    }
    return checks;
  }

  #fail(claim, error) {
    this.#failures.push(claim);
    const reason = inspect(error).replaceAll('\n', '\n  ');
    say(`does not hold: ${claim}\n  ${reason}`);
  }
}

export function say(text) {
  process.stdout.write(`${text}\n`);
}
