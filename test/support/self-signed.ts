import { createSign, generateKeyPairSync } from 'node:crypto';

export interface Validity {
  /** In `GeneralizedTime` format. */
  readonly from?: string;
  readonly to?: string;
}

/** Builds a minimal DER certificate that a TLS client accepts (RFC 5280 4.1). */
export function selfSigned(
  names: readonly string[],
  { from = '20200101000000Z', to = '20991231235959Z' }: Validity = {},
): { readonly key: string; readonly cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(0x30, objectId('2a8648ce3d040302'));
  const name = der(0x30, der(0x31, der(0x30, objectId('550403'), der(0x0c, Buffer.from('peer.example')))));
  const alternatives = der(0x30, ...names.map((one) => der(0x82, Buffer.from(one))));
  const signed = der(
    0x30,
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.of(1)),
    algorithm,
    name,
    der(0x30, der(0x18, Buffer.from(from)), der(0x18, Buffer.from(to))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, der(0x30, objectId('551d11'), der(0x04, alternatives)))),
  );
  const signature = createSign('sha256').update(signed).sign(privateKey);
  const whole = der(0x30, signed, algorithm, der(0x03, Buffer.concat([Buffer.of(0), signature])));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
  };
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content]);
  if (length < 0x100) return Buffer.concat([Buffer.of(tag, 0x81, length), content]);
  return Buffer.concat([Buffer.of(tag, 0x82, length >> 8, length & 0xff), content]);
}

function objectId(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}
