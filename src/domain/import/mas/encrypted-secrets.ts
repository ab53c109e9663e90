import { createDecipheriv } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Decrypts a secret of a client or provider in the database of MAS: base64 of nonce, ciphertext and tag of
 * ChaCha20-Poly1305 (RFC 8439), under `secrets.encryption`.
 * @returns undefined if the key does not open it
 */
export function openMasSecret(encrypted: string, encryptionKey: Buffer): string | undefined {
  const bytes = Buffer.from(encrypted, 'base64');
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv('chacha20-poly1305', encryptionKey, nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
  try {
    const text = bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES);
    return Buffer.concat([decipher.update(text), decipher.final()]).toString();
  } catch {
    return undefined;
  }
}
