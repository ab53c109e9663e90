const MAX_CHARACTERS = 255;
// Control characters, line separators, and those that change the direction of the text around the name.
const UNWANTED = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/** The display name without surrounding white space; undefined when it is not a valid one. */
export function parseDisplayName(text: string): string | undefined {
  const name = text.trim();
  const { length } = [...name];
  return length > 0 && length <= MAX_CHARACTERS && !UNWANTED.test(name) ? name : undefined;
}
