/** A listener's certificate and key (operations 1.7.3): validation of the pair, and the TLS context that uses it. */
import { constants, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import { parsePrivateKey } from '#platform/base/private-keys.ts';
import type { TlsOptions } from './http-options.ts';

export interface PairProblem {
  readonly part: 'certificate' | 'key' | 'password';
  /** Reveals nothing about the key. */
  readonly message: string;
}

/** A certificate and key as configured, in plain text. */
export interface TlsPair {
  /** PEM chain: the server's certificate and the intermediate ones. */
  readonly certificate: string;
  /** PEM text or DER bytes. */
  readonly key: Buffer;
  readonly password: string | undefined;
}

const CERTIFICATES = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]*-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

/** Only ciphers with forward secrecy and authenticated encryption, as HTTP/2 also requires (RFC 9113 9.2.2). */
const CIPHERS = [
  ...['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'],
  ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ...['ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ...['ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
].join(':');

/** Checks whether a pair can be used. Returns undefined if it can. Expired certificates are accepted. */
export function checkTlsPair(pair: TlsPair): PairProblem | undefined {
  const [leaf] = parseChain(pair.certificate) ?? [];
  if (leaf === undefined) return { part: 'certificate', message: 'not a PEM certificate chain' };
  const open = parsePrivateKey(pair.key, undefined);
  if (open !== undefined && pair.password !== undefined) {
    return { part: 'password', message: 'the key is not encrypted; remove the password' };
  }
  const key = open ?? (pair.password === undefined ? undefined : parsePrivateKey(pair.key, pair.password));
  if (key === undefined) {
    const advice = pair.password === undefined ? '; an encrypted key needs its password' : ', or the password is wrong';
    return { part: 'key', message: `not a private key that can be read (PKCS#1, PKCS#8 or SEC1, PEM or DER)${advice}` };
  }
  if (!leaf.checkPrivateKey(key)) {
    return { part: 'key', message: 'does not match the first certificate of the chain' };
  }
  try {
    contextOf(pair.certificate, key, 'TLSv1.2');
    return undefined;
  } catch (error) {
    // For example, the key may be too short for the TLS library. Its message does not identify the invalid part.
    return {
      part: 'certificate',
      message: `cannot be used: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

/** A certificate ready for use by connections. */
export interface ServedCertificate {
  readonly context: SecureContext;
  /** Milliseconds since the epoch. */
  readonly validTo: number;
}

/** @throws Error if the pair cannot be used, which `checkTlsPair` detects beforehand */
export function openCertificate(tls: TlsOptions): ServedCertificate {
  return { context: createTlsContext(tls), validTo: Date.parse(leafOf(tls.certificate).validTo) };
}

/** @throws Error if the pair cannot be used, which `checkTlsPair` detects beforehand */
function createTlsContext({ certificate, key, keyEncoding, password, minVersion }: TlsOptions): SecureContext {
  const parsed = parsePrivateKey(Buffer.from(key.reveal(), keyEncoding), password?.reveal());
  if (parsed === undefined) throw new Error('the key cannot be read');
  return contextOf(certificate.reveal(), parsed, minVersion);
}

/** Returns the server's own certificate. @param certificate a chain that `checkTlsPair` accepted */
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
    // A client could otherwise make the server repeat the handshake computation.
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
