/** Tells the person who waits what is going on; results of programs go to stdout, this does not. */
export function say(text) {
  process.stderr.write(`latchkey: ${text}\n`);
}
