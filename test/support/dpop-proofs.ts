import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { sha256 } from '#platform/base/secret.ts';

export interface WantedProof {
  readonly method?: string;
  readonly url: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly accessToken?: string;
  readonly nonce?: string;
  /** Header members that override those of a valid proof. An `undefined` value omits the member. */
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** A client's P-256 key that creates valid and invalid DPoP proofs. */
export class ProofKey {
  readonly #privateKey: KeyObject;
  readonly publicJwk: Readonly<Record<string, unknown>>;
  readonly privateJwk: Readonly<Record<string, unknown>>;
  readonly thumbprint: string;

  constructor() {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#privateKey = privateKey;
    this.publicJwk = { ...publicKey.export({ format: 'jwk' }) };
    this.privateJwk = { ...privateKey.export({ format: 'jwk' }) };
    const { crv, kty, x, y } = this.publicJwk;
    this.thumbprint = sha256(JSON.stringify({ crv, kty, x, y })).toString('base64url');
  }

  proof({ method = 'POST', url, now, accessToken, nonce, header, claims }: WantedProof): string {
    const head = { typ: 'dpop+jwt', alg: 'ES256', jwk: this.publicJwk, ...header };
    const body = {
      jti: randomUUID(),
      htm: method,
      htu: url,
      iat: Math.floor(now / 1000),
      ath: accessToken === undefined ? undefined : sha256(accessToken).toString('base64url'),
      nonce,
      ...claims,
    };
    const content = `${encode(head)}.${encode(body)}`;
    const signature = sign('sha256', Buffer.from(content), { key: this.#privateKey, dsaEncoding: 'ieee-p1363' });
    return `${content}.${signature.toString('base64url')}`;
  }
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
