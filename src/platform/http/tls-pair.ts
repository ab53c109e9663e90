/** The certificate of a listener with its key (operations 1.7.3): what is wrong with a pair, and the context that serves it. */
import { constants, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import { parsePrivateKey } from '#platform/base/private-keys.ts';
import type { TlsOptions } from './http-options.ts';

export interface PairProblem {
  readonly part: 'certificate' | 'key' | 'password';
  /** Shows nothing of the key. */
  readonly message: string;
}

/** A pair as it is configured, its secrets in the clear. */
export interface TlsPair {
  /** The certificate of the server and those between it and a root, in PEM. */
  readonly certificate: string;
  /** PEM text, or the bytes of DER. */
  readonly key: Buffer;
  readonly password: string | undefined;
}

const CERTIFICATES = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]*-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

/** Forward secrecy and authenticated encryption only, which HTTP/2 asks for as well (RFC 9113 9.2.2). */
const CIPHERS = [
  ...['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'],
  ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ...['ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ...['ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
].join(':');

/** What keeps a pair from being used; undefined when nothing does. Expired ones can be used. */
export function judgePair(pair: TlsPair): PairProblem | undefined {
  const [leaf] = parseChain(pair.certificate) ?? [];
  if (leaf === undefined) return { part: 'certificate', message: 'not a chain of certificates in PEM' };
  const open = parsePrivateKey(pair.key, undefined);
  if (open !== undefined && pair.password !== undefined) {
    return { part: 'password', message: 'the key is not encrypted, so it takes no password' };
  }
  const key = open ?? (pair.password === undefined ? undefined : parsePrivateKey(pair.key, pair.password));
  if (key === undefined) {
    const advice = pair.password === undefined ? '; an encrypted key needs its password' : ', or the password is wrong';
    return { part: 'key', message: `not a private key that can be read (PKCS#1, PKCS#8 or SEC1, PEM or DER)${advice}` };
  }
  if (!leaf.checkPrivateKey(key)) {
    return { part: 'key', message: 'does not belong to the first certificate of the chain' };
  }
  try {
    contextOf(pair.certificate, key, 'TLSv1.2');
    return undefined;
  } catch (error) {
    // For example a key that is too short for the TLS library. Its message names neither of them.
    return {
      part: 'certificate',
      message: `cannot be used: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

/** A certificate as connections get it. */
export interface ServedCertificate {
  readonly context: SecureContext;
  /** Milliseconds since the epoch. */
  readonly validTo: number;
}

/** @throws Error when the pair cannot be used, which `judgePair` says beforehand */
export function openCertificate(tls: TlsOptions): ServedCertificate {
  return { context: createTlsContext(tls), validTo: Date.parse(leafOf(tls.certificate).validTo) };
}

/** @throws Error when the pair cannot be used, which `judgePair` says beforehand */
function createTlsContext({ certificate, key, keyEncoding, password, minVersion }: TlsOptions): SecureContext {
  const parsed = parsePrivateKey(Buffer.from(key.reveal(), keyEncoding), password?.reveal());
  if (parsed === undefined) throw new Error('the key cannot be read');
  return contextOf(certificate.reveal(), parsed, minVersion);
}

/** The certificate of the server itself. @param certificate a chain that `judgePair` found right */
export function leafOf(certificate: TlsOptions['certificate']): X509Certificate {
  return new X509Certificate(certificate.reveal());
}

function contextOf(cert: string, key: KeyObject, minVersion: TlsOptions['minVersion']): SecureContext {
  return createSecureContext({
    cert,
    key: key.export({ type: 'pkcs8', format: 'pem' }),
    ciphers: CIPHERS,
    honorCipherOrder: true,
    minVersion,
    // A client could have the server compute again and again.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  });
}

function parseChain(text: string): readonly X509Certificate[] | undefined {
  try {
    return text.match(CERTIFICATES)?.map((pem) => new X509Certificate(pem));
  } catch {
    return undefined;
  }
}
