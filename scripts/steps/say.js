/** Prints progress to stderr; stdout is for results. */
export function say(text) {
  process.stderr.write(`latchkey: ${text}\n`);
}
