import { randomUUID } from 'node:crypto';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type KeyObject, SignJWT } from 'jose';

export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

export interface AssertionParts {
  readonly clientId: string;
  readonly audience: unknown;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** A shared secret as text, or a private key. */
  readonly key: string | CryptoKey | KeyObject;
  readonly alg?: string;
  readonly header?: Readonly<Record<string, unknown>>;
  /** Claims that override the defaults. An undefined value omits the claim. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** Returns the two request parameters that authenticate a client (RFC 7523 2.2). */
export async function assertionFields(parts: AssertionParts): Promise<Record<string, string>> {
  return { client_assertion_type: ASSERTION_TYPE, client_assertion: await signAssertion(parts) };
}

export async function signAssertion(parts: AssertionParts): Promise<string> {
  const { clientId, audience, key, header, claims } = parts;
  const seconds = Math.floor(parts.now / 1000);
  const usual = { iss: clientId, sub: clientId, aud: audience, iat: seconds, exp: seconds + 60, jti: randomUUID() };
  const alg = parts.alg ?? (typeof key === 'string' ? 'HS256' : 'ES256');
  const signer = new SignJWT(JSON.parse(JSON.stringify({ ...usual, ...claims })));
  return await signer.setProtectedHeader({ alg, ...header }).sign(typeof key === 'string' ? Buffer.from(key) : key);
}

export interface ClientKey {
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

export async function newClientKey(kid: string, alg = 'ES256'): Promise<ClientKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid } };
}
