/** Unicode forms of passwords. */

/**
 * Converts a password to the form of RFC 8265 4.2.2 (OpaqueString): other spaces become U+0020, then Unicode NFC.
 * Keyboards and systems encode the same accent in different ways, which users cannot see. New hashes use this form.
 */
export function preparePassword(password: string): string {
  return password.replace(/\p{Zs}/gu, ' ').normalize('NFC');
}

/**
 * Returns the forms that a hash may have been created from, the current one first. The others are the password as
 * typed, which earlier versions hashed, NFKC, which Synapse hashes, and NFD. These are four forms at most, and one for
 * ASCII passwords.
 */
export function formsOfPassword(password: string): readonly string[] {
  return [preparePassword(password), password, password.normalize('NFKC'), password.normalize('NFD')];
}
