/** In which form passwords are compared. */

/**
 * The password in the form of RFC 8265 4.2.2 (OpaqueString): other spaces as U+0020, then Unicode NFC. Keyboards and
 * systems write one accent in different ways; the owner of a password cannot see which. New hashes are made of this
 * form.
 */
export function preparePassword(password: string): string {
  return password.replace(/\p{Zs}/gu, ' ').normalize('NFC');
}

/**
 * The forms in which a hash may have been made, the present one first: as typed, and in the other forms that keyboards and
 * programs make, as earlier versions hashed what they received, and Synapse the NFKC form. Four at most, and one for
 * passwords in ASCII.
 */
export function formsOfPassword(password: string): readonly string[] {
  return [preparePassword(password), password, password.normalize('NFKC'), password.normalize('NFD')];
}
