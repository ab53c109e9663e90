/** The URL for authenticator apps, as a QR code or link, and the secret for manual entry. */
import { TOTP_DIGITS, TOTP_STEP_SECONDS } from './totp.ts';

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Encodes bytes in Base 32 without padding (RFC 4648 6), the format for manual entry in apps. */
export function encodeBase32(bytes: Buffer): string {
  let text = '';
  let bits = 0;
  let buffered = 0;
  for (const byte of bytes) {
    bits = (bits << 8) | byte;
    buffered += 8;
    while (buffered >= 5) {
      buffered -= 5;
      text += BASE32.charAt((bits >> buffered) & 31);
    }
    bits &= 31;
  }
  return buffered === 0 ? text : text + BASE32.charAt((bits << (5 - buffered)) & 31);
}

export interface OtpauthLabel {
  /** Name of the service. */
  readonly issuer: string;
  /** Username. */
  readonly account: string;
}

/**
 * Returns the URL that sets up an authenticator app. A colon separates the two names of its label, so neither may
 * contain one.
 * @see https://github.com/google/google-authenticator/wiki/Key-Uri-Format
 */
export function otpauthUrl({ issuer, account }: OtpauthLabel, secret: Buffer): string {
  const service = withoutColons(issuer);
  const parameters = [
    ['secret', encodeBase32(secret)],
    ['issuer', service],
    ['algorithm', 'SHA1'],
    ['digits', String(TOTP_DIGITS)],
    ['period', String(TOTP_STEP_SECONDS)],
  ].map(([name, value]) => `${name}=${encodeURIComponent(value ?? '')}`);
  const label = `${encodeURIComponent(service)}:${encodeURIComponent(withoutColons(account))}`;
  return `otpauth://totp/${label}?${parameters.join('&')}`;
}

function withoutColons(name: string): string {
  return name.replaceAll(':', ' ');
}
