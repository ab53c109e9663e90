import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { newId, toUuid } from '#platform/base/ids.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import { type CompactJws, parseCompactJws } from '#protocol/jose/compact-jws.ts';
import { randomRoot } from '#test/support/fixtures.ts';
import { type Client, clientOfRow } from './client.ts';
import { ClientKeys } from './client-keys.ts';

const keyRing = new KeyRing(randomRoot());
const pair = (): { publicKey: KeyObject; privateKey: KeyObject } => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const [one, other] = [pair(), pair()];

function jwk({ publicKey }: { publicKey: KeyObject }, kid?: string): object {
  return { ...publicKey.export({ format: 'jwk' }), ...(kid === undefined ? {} : { kid }) };
}

function client(...keys: unknown[]): Client {
  const metadata = {
    token_endpoint_auth_method: 'none',
    redirect_uris: [],
    grant_types: [],
    response_types: [],
    id_token_signed_response_alg: 'RS256',
    jwks: { keys },
  };
  const row = { id: toUuid(newId(0)), is_static: true, version: 1, client_secret_sealed: null, metadata };
  return clientOfRow(row, keyRing);
}

async function signed(key: KeyObject, kid?: string): Promise<CompactJws> {
  const header = { alg: 'ES256', ...(kid === undefined ? {} : { kid }) };
  const jws = parseCompactJws(await new SignJWT({}).setProtectedHeader(header).sign(key));
  if (jws === undefined) throw new Error('no JWS');
  return jws;
}

describe('a signature of a client', () => {
  test('is good with the key that it names', async () => {
    const keys = new ClientKeys();
    const both = client(jwk(one, 'one'), jwk(other, 'other'));
    expect(await keys.verify(both, await signed(other.privateKey, 'other'))).toEqual({ ok: true });
    const misnamed = await keys.verify(both, await signed(other.privateKey, 'one'));
    expect(misnamed).toEqual({ ok: false, reason: 'bad-signature' });
    const unknown = await keys.verify(both, await signed(other.privateKey, 'third'));
    expect(unknown).toEqual({ ok: false, reason: 'unknown-key' });
  });

  test('is good with any of its keys when it names none, or they have no names', async () => {
    const keys = new ClientKeys();
    const named = client(jwk(one, 'one'), jwk(other, 'other'));
    expect(await keys.verify(named, await signed(other.privateKey))).toEqual({ ok: true });
    const unnamed = client(jwk(one), jwk(other));
    expect(await keys.verify(unnamed, await signed(other.privateKey, 'third'))).toEqual({ ok: true });
  });

  test('that names no key is tried with five of them at most, so that it costs little', async () => {
    const keys = new ClientKeys();
    const many = [...Array.from({ length: 5 }, pair), one].map((each, index) => jwk(each, `kid ${index}`));
    expect(await keys.verify(client(...many), await signed(one.privateKey))).toMatchObject({ ok: false });
    expect(await keys.verify(client(...many.slice(1)), await signed(one.privateKey))).toEqual({ ok: true });
  });

  test('of a client with other keys, of another kind or none at all, is not good', async () => {
    const keys = new ClientKeys();
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
    for (const mistaken of [client(), client(jwk(rsa)), client({ ...jwk(one), use: 'enc' })]) {
      expect(await keys.verify(mistaken, await signed(one.privateKey))).toEqual({ ok: false, reason: 'unknown-key' });
    }
    const foreign = await keys.verify(client(jwk(other)), await signed(one.privateKey));
    expect(foreign).toEqual({ ok: false, reason: 'bad-signature' });
  });
});
