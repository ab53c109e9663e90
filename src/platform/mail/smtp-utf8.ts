/** Whether SMTP servers take addresses with a local part beyond ASCII (SMTPUTF8, RFC 6531). */

/** Of `EHLO`. */
const SMTPUTF8 = 'SMTPUTF8';

/** Why such a mail never leaves: RFC 6531 3.2 forbids to send it without the extension. */
export const WITHOUT_SMTPUTF8 =
  'the address has characters other than ASCII before the @, and the SMTP server does not announce SMTPUTF8';

/** By the settings of the server, what it announced last to this process. */
const announced = new WeakMap<object, boolean>();

/** Whether servers need SMTPUTF8 for an address: the domain is always ASCII, the local part may not be. */
export function isInternationalized(address: string): boolean {
  return /\P{ASCII}/u.test(address);
}

/** @returns whether the server takes internationalized addresses */
export function readAnnouncement(server: object, extensions: readonly string[]): boolean {
  const takes = extensions.includes(SMTPUTF8);
  announced.set(server, takes);
  return takes;
}

/** Whether the server is known to refuse internationalized addresses. One that this process never asked is not. */
export function lacksSmtpUtf8(server: object): boolean {
  return announced.get(server) === false;
}
