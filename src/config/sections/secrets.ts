import { basename } from 'node:path';
import { z } from 'zod';
import { Secret } from '#platform/base/secret.ts';
import { rule } from '#platform/config/rule.ts';
import { hint } from '#platform/config/shape.ts';
import { bool, choice, list, mapping, path, secret, secretFile, text } from '#platform/config/values.ts';
import { SIGNING_ALGORITHMS } from '#protocol/jose/signing-algorithms.ts';
import { BASE64_PREFIX } from './base64-prefix.ts';
import { isPublishedOnly } from './key-file-names.ts';

const HEX_KEY = { pattern: /^[0-9a-fA-F]{64}$/, expected: 'expected 64 hexadecimal characters' };

const signingKey = rule(
  mapping({
    kid: hint(text({ maximum: 255 }), { defaultText: 'thumbprint of the key (RFC 7638)' })
      .optional()
      .describe('Unique key identifier.'),
    key: hint(secret(), { binary: true })
      .optional()
      .describe('Private key: PKCS#8 (may be encrypted), PKCS#1 or SEC1; PEM, or `base64:` and DER in base64.'),
    key_file: secretFile('key').describe('Path of a file with the private key, in PEM or DER.'),
    password: secret().optional().describe('Password of an encrypted key.'),
    password_file: secretFile('password'),
    alg: hint(choice(SIGNING_ALGORITHMS), {
      defaultText: 'RS256, ES256, ES384, ES512, ES256K or EdDSA, depending on the key type',
    })
      .optional()
      .describe('Signature algorithm of the key.'),
    use_for_signing: bool().prefault(true).describe('`false`: the key is published but not used for signing.'),
  }),
  ['key'],
  ({ key }, problem) => {
    if (key === undefined) problem([], 'needs "key" or "key_file"');
  },
);

export const secretsSection = mapping({
  encryption: hint(secret(HEX_KEY), { trimmed: true, defaultText: 'generated in `data_dir`' })
    .optional()
    .describe('Root key (64 hexadecimal characters) for cookies and encrypted data.'),
  encryption_file: secretFile('encryption'),
  encryption_previous: list(
    z.union([secret(HEX_KEY), mapping({ file: path().describe('Path of a file with the key.') })], {
      error: 'expected 64 hexadecimal characters or {file: path}',
    }),
  )
    .prefault([])
    .describe('Previous root keys, used only for decryption.'),
  keys: hint(list(signingKey), { defaultText: 'generated in `data_dir`' })
    .optional()
    .describe(
      'Signing keys, each with one algorithm. The first key of an algorithm signs; an RSA key for RS256 is ' +
        'required.',
    ),
  keys_dir: path()
    .optional()
    .describe(
      'Directory of unencrypted signing keys, used in the order of their names, after `keys`. ' +
        '`NAME.next.pem` and `NAME.old.pem` are published but not used for signing.',
    ),
});

type ParsedSecrets = z.output<typeof secretsSection>;

/** A key of `keys_dir`, as read by the loader. */
export interface KeyFile {
  readonly path: string;
  /** In the format of `secrets.keys[].key`. */
  readonly content: string;
}

export function secretsConfig(parsed: ParsedSecrets, directoryKeys: readonly KeyFile[]) {
  const inline = (parsed.keys ?? []).map((entry, index) => ({
    /** Name of the entry in messages: `secrets.keys[0]` or a file path. */
    name: `secrets.keys[${index}]`,
    kid: entry.kid,
    ...keyContent(entry.key ?? ''),
    /** Undefined: the default algorithm of the key type. */
    alg: entry.alg,
    password: entry.password === undefined ? undefined : new Secret(entry.password),
    useForSigning: entry.use_for_signing,
  }));
  const fromDirectory = directoryKeys.map(({ path, content }) => ({
    name: path,
    kid: undefined,
    ...keyContent(content),
    alg: undefined,
    password: undefined,
    useForSigning: !isPublishedOnly(basename(path)),
  }));
  return {
    /** 64 hexadecimal characters; undefined: not configured, so the key of the data directory is used. */
    encryption: parsed.encryption === undefined ? undefined : new Secret(parsed.encryption),
    encryptionPrevious: parsed.encryption_previous.flatMap((entry) =>
      typeof entry === 'string' ? [new Secret(entry)] : [],
    ),
    /** Inline keys first, then the keys of the directory; empty: not configured. */
    keys: [...inline, ...fromDirectory],
  };
}

/** Splits a key into content and encoding: PEM text, or DER as base64. */
export function keyContent(text: string): { readonly key: Secret; readonly encoding: 'utf8' | 'base64' } {
  return text.startsWith(BASE64_PREFIX)
    ? { key: new Secret(text.slice(BASE64_PREFIX.length)), encoding: 'base64' }
    : { key: new Secret(text), encoding: 'utf8' };
}
