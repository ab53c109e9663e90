import { createHmac } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { ProofKey, type WantedProof } from '#test/support/dpop-proofs.ts';
import { SIGNING_ALGORITHMS } from '../jose/signing-algorithms.ts';
import { checkDpopProof, isThumbprint } from './dpop-proof.ts';

const NOW = Date.UTC(2026, 5, 1, 12);
const URL_OF_TOKENS = 'https://auth.example/oauth2/token';
const REQUEST = { method: 'POST', url: URL_OF_TOKENS, accessToken: undefined, now: NOW };
const TOKEN = 'mat_0123456789ABCDEFGHIJabcdefghij_0WADMv';
const key = new ProofKey();

function made(changes: Partial<WantedProof> = {}): string {
  return key.proof({ url: URL_OF_TOKENS, now: NOW, ...changes });
}

describe('a DPoP proof (RFC 9449 4.3)', () => {
  test('yields the thumbprint of its key', async () => {
    expect(await checkDpopProof(made({ claims: { jti: 'j' } }), REQUEST)).toEqual({
      ok: true,
      proof: { thumbprint: key.thumbprint, algorithm: 'ES256', id: 'j', nonce: undefined },
    });
    expect(isThumbprint(key.thumbprint)).toBe(true);
  });

  test.each(SIGNING_ALGORITHMS.filter((algorithm) => algorithm !== 'ES256K'))(
    'signed with %s by a library is valid',
    async (alg) => {
      const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
      const jwk = await exportJWK(publicKey);
      const proof = await new SignJWT({ htm: 'POST', htu: URL_OF_TOKENS, jti: 'x', iat: NOW / 1000 })
        .setProtectedHeader({ typ: 'dpop+jwt', alg, jwk })
        .sign(privateKey);
      const thumbprint = await calculateJwkThumbprint(jwk);
      expect(await checkDpopProof(proof, REQUEST)).toMatchObject({ ok: true, proof: { thumbprint } });
    },
  );

  test.each<[string, Partial<WantedProof>]>([
    ['60 s old', { claims: { iat: NOW / 1000 - 60 } }],
    ['10 s ahead', { claims: { iat: NOW / 1000 + 10 } }],
    ['made with a fraction of a second', { claims: { iat: NOW / 1000 - 0.5 } }],
    ['for the URL with query and fragment', { claims: { htu: `${URL_OF_TOKENS}?a=b#c` } }],
    ['for another spelling of the URL', { claims: { htu: 'HTTPS://AUTH.example:443/oauth2/./token' } }],
    ['with further claims', { claims: { sub: 'x', exp: 0, nonce: 'n' } }],
    ['with the long media type', { header: { typ: 'application/DPOP+JWT' } }],
    ['with a jti of 255 characters', { claims: { jti: 'j'.repeat(255) } }],
  ])('%s is valid', async (_, changes) => {
    expect(await checkDpopProof(made(changes), REQUEST)).toMatchObject({ ok: true });
  });

  test.each<[string, Partial<WantedProof>, string]>([
    ['of another type', { header: { typ: 'JWT' } }, 'typ'],
    ['without type', { header: { typ: undefined } }, 'typ'],
    ['without a key', { header: { jwk: undefined } }, 'jwk'],
    ['with a private key', { header: { jwk: key.privateJwk } }, 'jwk'],
    ['with a shared secret for a key', { header: { jwk: { kty: 'oct', k: 'AAAA' } } }, 'jwk'],
    ['with the key of another', { header: { jwk: new ProofKey().publicJwk } }, 'signature'],
    ['with alg none', { header: { alg: 'none' } }, 'alg'],
    ['with alg HS256', { header: { alg: 'HS256' } }, 'alg'],
    ['with an alg of another kind of key', { header: { alg: 'RS256' } }, 'alg'],
    ['with an alg of another curve', { header: { alg: 'ES384' } }, 'alg'],
    ['with extensions', { header: { crit: ['exp'], exp: 1 } }, 'one signed JWT'],
    ['without jti', { claims: { jti: undefined } }, 'jti'],
    ['with an empty jti', { claims: { jti: '' } }, 'jti'],
    ['with a jti of 256 characters', { claims: { jti: 'j'.repeat(256) } }, 'jti'],
    ['with a number for a jti', { claims: { jti: 1 } }, 'jti'],
    ['for another method', { method: 'GET' }, 'htm'],
    ['for the method in other letters', { method: 'post' }, 'htm'],
    ['for another path', { url: 'https://auth.example/oauth2/tokens' }, 'htu'],
    ['for another host', { url: 'https://evil.example/oauth2/token' }, 'htu'],
    ['for another port', { url: 'https://auth.example:8443/oauth2/token' }, 'htu'],
    ['for another scheme', { url: 'http://auth.example/oauth2/token' }, 'htu'],
    ['for a URL with a user', { url: 'https://me@auth.example/oauth2/token' }, 'htu'],
    ['for a path alone', { url: '/oauth2/token' }, 'htu'],
    ['without htu', { claims: { htu: undefined } }, 'htu'],
    ['61 s old', { claims: { iat: NOW / 1000 - 61 } }, 'iat'],
    ['11 s ahead', { claims: { iat: NOW / 1000 + 11 } }, 'iat'],
    ['without iat', { claims: { iat: undefined } }, 'iat'],
    ['with a text for iat', { claims: { iat: String(NOW / 1000) } }, 'iat'],
  ])('%s is rejected', async (_, changes, about) => {
    const outcome = await checkDpopProof(made(changes), REQUEST);
    expect(outcome).toMatchObject({ ok: false, problem: expect.stringContaining(about) });
  });

  test('must contain the hash of the accompanying access token', async () => {
    const request = { ...REQUEST, accessToken: TOKEN };
    expect(await checkDpopProof(made({ accessToken: TOKEN }), request)).toMatchObject({ ok: true });
    for (const changes of [{}, { accessToken: `${TOKEN}x` }, { claims: { ath: TOKEN } }]) {
      const outcome = await checkDpopProof(made(changes), request);
      expect(outcome).toMatchObject({ ok: false, problem: expect.stringContaining('ath') });
    }
  });

  test('signed with its own public key as a secret is rejected', async () => {
    const [, body] = made().split('.');
    const head = { typ: 'dpop+jwt', alg: 'HS256', jwk: key.publicJwk };
    const content = `${Buffer.from(JSON.stringify(head)).toString('base64url')}.${body}`;
    const mac = createHmac('sha256', JSON.stringify(key.publicJwk)).update(content).digest('base64url');
    expect(await checkDpopProof(`${content}.${mac}`, REQUEST)).toMatchObject({ ok: false });
  });

  test.each([
    ['empty', ''],
    ['two proofs joined', `${made()}, ${made()}`],
    ['cut', made().slice(0, -1)],
    ['without signature', `${made().split('.').slice(0, 2).join('.')}.`],
    ['of a megabyte', 'a'.repeat(1_000_000)],
    ['of 8,193 characters', made({ claims: { x: 'x'.repeat(8000) } })],
    ['JSON', JSON.stringify({ payload: '', signature: '' })],
  ])('%s is rejected', async (_, text) => {
    expect(await checkDpopProof(text, REQUEST)).toMatchObject({ ok: false });
  });
});
