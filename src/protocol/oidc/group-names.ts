/** Names of groups, as the claim `groups` has them. */

export const MAX_GROUPS = 200;
const MAX_CHARACTERS = 255;
/** Control characters, and halves of characters, which no database stores. */
const UNUSABLE = /[\p{Cc}\p{Cs}]/u;

/** What a name of a group has to be, for error messages. */
export const GROUP_NAME_RULE = `1 to ${MAX_CHARACTERS} characters, without control characters or white space at the ends`;

/** Compared as they are: programs differ in what they take for the same, and in doubt nobody gets a right. */
export function isGroupName(name: string): boolean {
  return name !== '' && [...name].length <= MAX_CHARACTERS && !UNUSABLE.test(name) && name.trim() === name;
}

/** Each name once, in the order of their code units, which is the same everywhere. */
export function sortedGroups(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}
