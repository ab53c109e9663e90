/** Tracks which SMTP servers accept addresses with a non-ASCII local part (SMTPUTF8, RFC 6531). */

/** Extension keyword in the `EHLO` response. */
const SMTPUTF8 = 'SMTPUTF8';

/** Why the email is never sent: RFC 6531 3.2 forbids sending it without the extension. */
export const WITHOUT_SMTPUTF8 =
  'the address has non-ASCII characters before the @, but the SMTP server does not support SMTPUTF8';

/** The last announcement of each server, keyed by its settings. */
const announced = new WeakMap<object, boolean>();

/** Returns whether an address requires SMTPUTF8. The domain is always ASCII, the local part may not be. */
export function isInternationalized(address: string): boolean {
  return /\P{ASCII}/u.test(address);
}

/** @returns whether the server accepts internationalized addresses */
export function readAnnouncement(server: object, extensions: readonly string[]): boolean {
  const takes = extensions.includes(SMTPUTF8);
  announced.set(server, takes);
  return takes;
}

/** Returns whether the server is known to reject internationalized addresses. False for servers not contacted yet. */
export function lacksSmtpUtf8(server: object): boolean {
  return announced.get(server) === false;
}
