/** Counts what holds and what does not; a failure is told at once and does not end the run. */
export class Checks {
  #passed = 0;
  #failures = [];

  /** @param work throws when the claim does not hold. @returns whether it holds */
  async that(claim, work) {
    try {
      await work();
      this.#passed += 1;
      return true;
    } catch (error) {
      this.#failures.push(claim);
      say(`FAILED: ${claim}\n  ${String(error?.stack ?? error).replaceAll('\n', '\n  ')}`);
      return false;
    }
  }

  /** Prints the closing line. @returns the exit code */
  close() {
    for (const claim of this.#failures) say(`FAILED: ${claim}`);
    say(`${this.#passed} passed, ${this.#failures.length} failed`);
    return this.#failures.length === 0 && this.#passed > 0 ? 0 : 1;
  }
}

export function say(text) {
  process.stdout.write(`${text}\n`);
}
