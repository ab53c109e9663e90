/** Names of groups in the claim `groups`. */

export const MAX_GROUPS = 200;
const MAX_CHARACTERS = 255;
/** Control characters, and lone surrogates, which databases cannot store. */
const UNUSABLE = /[\p{Cc}\p{Cs}]/u;

/** Requirements for a group name, for error messages. */
export const GROUP_NAME_RULE = `1 to ${MAX_CHARACTERS} characters, without control characters or leading or trailing whitespace`;

/**
 * Names are not normalized, because applications differ in what they treat as equal. In doubt, no access is granted.
 */
export function isGroupName(name: string): boolean {
  return name !== '' && [...name].length <= MAX_CHARACTERS && !UNUSABLE.test(name) && name.trim() === name;
}

/** Returns distinct names in code unit order, which is the same everywhere. */
export function sortedGroups(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}
