import { domainToASCII } from 'node:url';

const MAX_BYTES = 254;
const MAX_LOCAL_BYTES = 64;
// Dot-string of RFC 5321 4.1.2, with letters, marks and digits of any script (RFC 6531 3.3). Quoted local parts are
// rejected because few systems deliver to them.
const LOCAL_PART = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
// Invisible characters: addresses that differ only in them look the same.
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{C}]/u;
// A combining mark joins the preceding character. At the start, it would change the text around the local part.
const LEADING_MARK = /(?:^|\.)\p{M}/u;
const ASCII = /\p{ASCII}/u;
const NOT_ASCII = /\P{ASCII}/u;
// Characters that users may type. `domainToASCII` alone would also decode percent signs and cut off paths.
const TYPED_DOMAIN = /^[\p{L}\p{M}\p{N}.-]+$/u;
// An IDNA-encoded domain: letters, digits and inner hyphens.
const DOMAIN = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/;

export interface EmailAddress {
  /**
   * The address for sending mail. The local part is in NFC and keeps its case; the domain is IDNA-encoded and
   * lower-cased.
   */
  readonly address: string;
  /** Key for comparisons. */
  readonly key: string;
}

/**
 * Parses an email address: addr-spec of RFC 5321 and RFC 6531 without quoted local parts. Trims surrounding
 * whitespace.
 * @param singleLabelDomains lower-cased domains without a dot that are also accepted
 */
export function parseEmailAddress(text: string, singleLabelDomains: readonly string[] = []): EmailAddress | undefined {
  const trimmed = text.trim();
  const at = trimmed.lastIndexOf('@');
  const local = trimmed.slice(0, Math.max(at, 0)).normalize('NFC');
  const typedDomain = trimmed.slice(at + 1);
  const domain = TYPED_DOMAIN.test(typedDomain) ? domainToASCII(typedDomain) : '';
  if (!isLocalPart(local) || !DOMAIN.test(domain)) return undefined;
  if (!domain.includes('.') && !singleLabelDomains.includes(domain)) return undefined;
  // Numbers are parsed as an IP address (`1.2` becomes 1.0.0.2), which is not a mail domain.
  if (/^[0-9.]+$/.test(domain)) return undefined;
  const address = `${local}@${domain}`;
  return Buffer.byteLength(address) > MAX_BYTES ? undefined : { address, key: address.toLowerCase().normalize('NFC') };
}

function isLocalPart(local: string): boolean {
  if (!LOCAL_PART.test(local) || INVISIBLE.test(local) || LEADING_MARK.test(local)) return false;
  if (Buffer.byteLength(local) > MAX_LOCAL_BYTES) return false;
  // A compatibility variant of an ASCII character, such as a full-width letter. Some systems would deliver to the ASCII
  // form.
  return ![...local].some((character) => NOT_ASCII.test(character) && ASCII.test(character.normalize('NFKC')));
}

/** Returns the masked address, for readers who need not know all of it: `a…@example.org`. */
export function partOfAddress({ address }: EmailAddress): string {
  const [first = ''] = address;
  return `${first}…${address.slice(address.lastIndexOf('@'))}`;
}

/**
 * Parses the stored address of an account. Also accepts domains without a dot, because the rules may have been
 * different when the address was stored.
 */
export function parseStoredEmailAddress(text: string): EmailAddress | undefined {
  const domain = text.slice(text.lastIndexOf('@') + 1);
  return parseEmailAddress(text, [domainToASCII(domain.trim())]);
}
