import { createPrivateKey, type KeyObject } from 'node:crypto';

/**
 * Parses a private key in PKCS#8 (also encrypted), PKCS#1 or SEC1 format, as PEM or DER. Returns undefined if that
 * fails.
 */
export function parsePrivateKey(key: string | Buffer, password: string | undefined): KeyObject | undefined {
  const passphrase = password === undefined ? {} : { passphrase: password };
  const bytes = typeof key === 'string' ? Buffer.from(key) : key;
  if (bytes.includes('-----BEGIN')) {
    return attempt(() => createPrivateKey({ key: bytes, format: 'pem', ...passphrase }));
  }
  for (const type of ['pkcs8', 'pkcs1', 'sec1'] as const) {
    const parsed = attempt(() => createPrivateKey({ key: bytes, format: 'der', type, ...passphrase }));
    if (parsed !== undefined) return parsed;
  }
  return undefined;
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
