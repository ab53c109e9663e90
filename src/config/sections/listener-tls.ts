import type { z } from 'zod';
import { Secret } from '#platform/base/secret.ts';
import { rule } from '#platform/config/rule.ts';
import { hint } from '#platform/config/shape.ts';
import { choice, mapping, secret, secretFile } from '#platform/config/values.ts';
import type { TlsOptions } from '#platform/http/http-options.ts';
import { keyContent } from './secrets.ts';

/** `../tls-pairs.ts` checks the certificate and key after the files are read. */
export const listenerTls = rule(
  mapping({
    certificate: hint(secret(), { isPublic: true })
      .optional()
      .describe('Certificate (PEM), followed by the intermediate certificates.'),
    certificate_file: secretFile('certificate'),
    key: hint(secret(), { binary: true })
      .optional()
      .describe(
        'Private key of the certificate: PKCS#8 (may be encrypted), PKCS#1 or SEC1; PEM, or `base64:` and ' +
          'DER in base64.',
      ),
    key_file: secretFile('key').describe('Path of a file with the private key, in PEM or DER.'),
    password: secret().optional().describe('Password of an encrypted key.'),
    password_file: secretFile('password'),
    min_version: choice(['TLSv1.2', 'TLSv1.3']).prefault('TLSv1.2').describe('Minimum TLS version.'),
  }),
  ['certificate', 'key'],
  ({ certificate, key }, problem) => {
    if (certificate === undefined) problem([], 'needs "certificate" or "certificate_file"');
    if (key === undefined) problem([], 'needs "key" or "key_file"');
  },
);

export function tlsOptions(parsed: z.output<typeof listenerTls>): TlsOptions {
  const { key, encoding } = keyContent(parsed.key ?? '');
  return {
    certificate: new Secret(parsed.certificate ?? ''),
    key,
    keyEncoding: encoding,
    password: parsed.password === undefined ? undefined : new Secret(parsed.password),
    minVersion: parsed.min_version,
  };
}
