import { domainToASCII } from 'node:url';

const MAX_BYTES = 254;
const MAX_LOCAL_BYTES = 64;
// Dot-string of RFC 5321 4.1.2, with letters, marks and digits of any script (RFC 6531 3.3). Quoted local parts are
// refused, as few systems deliver to them.
const LOCAL_PART = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
// Nobody sees these, and two addresses that differ in them look the same.
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{C}]/u;
// A mark joins the character before it: at the start it would change what surrounds the local part.
const LEADING_MARK = /(?:^|\.)\p{M}/u;
const ASCII = /\p{ASCII}/u;
const NOT_ASCII = /\P{ASCII}/u;
// What a person may type: `domainToASCII` alone would also decode percent signs and cut paths.
const TYPED_DOMAIN = /^[\p{L}\p{M}\p{N}.-]+$/u;
// Already IDNA-encoded: letters, digits and inner hyphens.
const DOMAIN = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/;

export interface EmailAddress {
  /** As mail is sent to it: the local part in NFC keeps its case, the domain is IDNA-encoded and lower-cased. */
  readonly address: string;
  /** What comparisons use. */
  readonly key: string;
}

/**
 * Reads an e-mail address: addr-spec of RFC 5321 and RFC 6531 without quoted local part; surrounding white
 * space is cut.
 * @param singleLabelDomains lower-cased domains without a dot that are accepted all the same
 */
export function parseEmailAddress(text: string, singleLabelDomains: readonly string[] = []): EmailAddress | undefined {
  const trimmed = text.trim();
  const at = trimmed.lastIndexOf('@');
  const local = trimmed.slice(0, Math.max(at, 0)).normalize('NFC');
  const typedDomain = trimmed.slice(at + 1);
  const domain = TYPED_DOMAIN.test(typedDomain) ? domainToASCII(typedDomain) : '';
  if (!isLocalPart(local) || !DOMAIN.test(domain)) return undefined;
  if (!domain.includes('.') && !singleLabelDomains.includes(domain)) return undefined;
  // Numbers are read as the address of a host (`1.2` becomes 1.0.0.2), which is not a mail domain.
  if (/^[0-9.]+$/.test(domain)) return undefined;
  const address = `${local}@${domain}`;
  return Buffer.byteLength(address) > MAX_BYTES ? undefined : { address, key: address.toLowerCase().normalize('NFC') };
}

function isLocalPart(local: string): boolean {
  if (!LOCAL_PART.test(local) || INVISIBLE.test(local) || LEADING_MARK.test(local)) return false;
  if (Buffer.byteLength(local) > MAX_LOCAL_BYTES) return false;
  // Another way to write an ASCII character, such as a full-width letter: some systems would deliver to that one.
  return ![...local].some((character) => NOT_ASCII.test(character) && ASCII.test(character.normalize('NFKC')));
}

/** The address in part, for somebody who need not know it: `a…@example.org`. */
export function partOfAddress({ address }: EmailAddress): string {
  const [first = ''] = address;
  return `${first}…${address.slice(address.lastIndexOf('@'))}`;
}

/**
 * Reads an address that an account may have: one whose domain has no dot, too, for the rules may have been others when
 * it was stored.
 */
export function parseStoredEmailAddress(text: string): EmailAddress | undefined {
  const domain = text.slice(text.lastIndexOf('@') + 1);
  return parseEmailAddress(text, [domainToASCII(domain.trim())]);
}
