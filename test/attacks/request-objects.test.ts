/** Security 4.1: request objects by value (RFC 9101, RFC 8725). */
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import { beforeAll, expect, test } from 'vitest';
import { attackedService } from './attacked-service.ts';
import { textMember } from './raw-http.ts';

const CALLBACK = 'https://app.example/cb';
const attacked = attackedService();
const own = generateKeyPairSync('rsa', { modulusLength: 2048 });
const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 });
let clientId: string;
let otherId: string;

beforeAll(async () => {
  [clientId, otherId] = [
    await register(own.publicKey.export({ format: 'jwk' })),
    await register(foreign.publicKey.export({ format: 'jwk' })),
  ];
});

async function register(jwk: object): Promise<string> {
  const body = {
    client_uri: 'https://app.example/',
    redirect_uris: [CALLBACK],
    jwks: { keys: [jwk] },
    token_endpoint_auth_method: 'none',
  };
  const headers: [string, string][] = [['Content-Type', 'application/json']];
  const response = await attacked.ask({
    method: 'POST',
    target: '/oauth2/registration',
    headers,
    body: JSON.stringify(body),
  });
  return textMember(response, 'client_id');
}

function claims(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const now = Math.floor(attacked.clock.now() / 1000);
  const pkce = { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' };
  const parameters = { response_type: 'code', redirect_uri: CALLBACK, scope: 'openid', ...pkce };
  const issuer = attacked.service.issuer;
  return { iss: clientId, aud: issuer, exp: now + 300, client_id: clientId, ...parameters, ...changes };
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

async function sign(changes: Readonly<Record<string, unknown>> = {}, pair = own, header: object = {}): Promise<string> {
  return await new SignJWT(claims(changes)).setProtectedHeader({ alg: 'RS256', ...header }).sign(pair.privateKey);
}

function withMac(key: string | Buffer): string {
  const content = `${encode({ alg: 'HS256' })}.${encode(claims())}`;
  return `${content}.${createHmac('sha256', key).update(content).digest('base64url')}`;
}

async function ask(request: string, fields: Readonly<Record<string, string>> = {}) {
  const parameters = new URLSearchParams({ client_id: clientId, request, ...fields });
  return await attacked.browser().get(`/authorize?${parameters}`);
}

const PUBLIC_PEM = own.publicKey.export({ type: 'spki', format: 'pem' });

test.each<[string, () => string | Promise<string>]>([
  ['unsigned', () => `${encode({ alg: 'RS256' })}.${encode(claims())}.`],
  ['alg none', () => `${encode({ alg: 'none' })}.${encode(claims())}.`],
  ['alg None, with a made-up signature', () => `${encode({ alg: 'None' })}.${encode(claims())}.AA`],
  ['HS256 keyed with the public key', () => withMac(PUBLIC_PEM)],
  ['HS256 with an empty key', () => withMac('')],
  ['signed with the key of another client', () => sign({}, foreign)],
  ['with its own key in the header', () => sign({}, foreign, { jwk: foreign.publicKey.export({ format: 'jwk' }) })],
  ['with the URL of a key', () => sign({}, foreign, { jku: `${attacked.service.address}/oauth2/keys.json` })],
  ['with an unknown extension', () => sign({}, own, { crit: ['b64'], b64: true })],
  ['for another audience', () => sign({ aud: 'https://evil.example' })],
  ['with another client_id inside', () => sign({ client_id: otherId })],
  ['of another iss', () => sign({ iss: otherId })],
  ['expired', () => sign({ exp: Math.floor(attacked.clock.now() / 1000) - 60 })],
  ['that never expires', () => sign({ exp: undefined })],
  ['with a nested request', () => sign({ request: encode({ alg: 'none' }) })],
  ['with a request_uri inside', () => sign({ request_uri: 'https://evil.example/request' })],
  [
    'changed after it was signed',
    async () => {
      const [header, , signature] = (await sign()).split('.');
      return `${header}.${encode(claims({ scope: 'openid email' }))}.${signature}`;
    },
  ],
])('a request object %s is refused, with nothing stored or fetched (S-13)', async (_, make) => {
  const request = await make();
  await attacked.changingNothing(async () => {
    const page = await ask(request);
    expect(page).toMatchObject({ status: 400, location: undefined });
    expect(page.text).toContain('invalid_request_object');
    // The client registered itself, so the user sees its host before the error returns to it.
    const named = await ask(request, { redirect_uri: CALLBACK });
    expect(named).toMatchObject({ status: 400, location: undefined });
    expect(named.body).toContain('error=invalid_request_object');
    expect(await ask(request, { redirect_uri: 'https://evil.example/' })).toMatchObject({
      status: 400,
      location: undefined,
    });
  });
});

test('a valid request object of one client is refused for another (S-13)', async () => {
  const request = await sign();
  expect((await ask(request)).location).toContain('/login');
  await attacked.changingNothing(async () => {
    expect(await ask(request, { client_id: otherId })).toMatchObject({ status: 400, location: undefined });
  });
});
