import { domainToASCII } from 'node:url';

const MAX_BYTES = 254;
const MAX_LOCAL_BYTES = 64;
// RFC 5321 4.1.2 Dot-string; quoted local parts are refused, as few systems deliver to them.
const LOCAL_PART = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
// What a person may type: `domainToASCII` alone would also decode percent signs and cut paths.
const TYPED_DOMAIN = /^[\p{L}\p{M}\p{N}.-]+$/u;
// Already IDNA-encoded: letters, digits and inner hyphens.
const DOMAIN = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/;

export interface EmailAddress {
  /** As mail is sent to it: the local part keeps its case, the domain is IDNA-encoded and lower-cased. */
  readonly address: string;
  /** What comparisons use. */
  readonly key: string;
}

/**
 * Reads an e-mail address: addr-spec of RFC 5321 without quoted local part; surrounding white space is cut.
 * @param singleLabelDomains lower-cased domains without a dot that are accepted all the same
 */
export function parseEmailAddress(text: string, singleLabelDomains: readonly string[] = []): EmailAddress | undefined {
  const trimmed = text.trim();
  const at = trimmed.lastIndexOf('@');
  const local = trimmed.slice(0, Math.max(at, 0));
  const typedDomain = trimmed.slice(at + 1);
  const domain = TYPED_DOMAIN.test(typedDomain) ? domainToASCII(typedDomain) : '';
  if (!LOCAL_PART.test(local) || local.length > MAX_LOCAL_BYTES || !DOMAIN.test(domain)) return undefined;
  if (!domain.includes('.') && !singleLabelDomains.includes(domain)) return undefined;
  // Numbers are read as the address of a host (`1.2` becomes 1.0.0.2), which is not a mail domain.
  if (/^[0-9.]+$/.test(domain)) return undefined;
  const address = `${local}@${domain}`;
  return address.length > MAX_BYTES ? undefined : { address, key: address.toLowerCase() };
}

/** The address in part, for somebody who need not know it: `a…@example.org`. */
export function partOfAddress({ address }: EmailAddress): string {
  return `${address.slice(0, 1)}…${address.slice(address.lastIndexOf('@'))}`;
}

/**
 * Reads an address that an account may have: one whose domain has no dot, too, for the rules may have been others when
 * it was stored.
 */
export function parseStoredEmailAddress(text: string): EmailAddress | undefined {
  const domain = text.slice(text.lastIndexOf('@') + 1);
  return parseEmailAddress(text, [domain.trim().toLowerCase()]);
}
