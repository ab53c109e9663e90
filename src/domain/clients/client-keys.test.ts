import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { PublishedKeys } from '#domain/keys/published-keys.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import type { Fetched, NotSent, OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import { type CompactJws, parseCompactJws } from '#protocol/jose/compact-jws.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { randomRoot } from '#test/support/fixtures.ts';
import { type Client, type ClientMetadata, clientOfRow } from './client.ts';
import { ClientKeys } from './client-keys.ts';

const keyRing = new KeyRing(randomRoot());
const pair = (): { publicKey: KeyObject; privateKey: KeyObject } => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const [one, other] = [pair(), pair()];

function jwk({ publicKey }: { publicKey: KeyObject }, kid?: string): object {
  return { ...publicKey.export({ format: 'jwk' }), ...(kid === undefined ? {} : { kid }) };
}

function client(...keys: unknown[]): Client {
  return clientOf({ jwks: { keys } });
}

function clientOf(more: Pick<ClientMetadata, 'jwks' | 'jwks_uri'>, kind: 'static' | 'managed' = 'static'): Client {
  const metadata = {
    token_endpoint_auth_method: 'none',
    redirect_uris: [],
    grant_types: [],
    response_types: [],
    id_token_signed_response_alg: 'RS256',
    ...more,
  };
  const row = {
    id: toUuid(newId(0)),
    is_static: kind === 'static',
    kind: kind === 'managed' ? kind : null,
    former_secret_sealed: null,
    former_secret_expires_at: null,
    version: 1,
    client_secret_sealed: null,
    metadata,
    document_url: null,
    document_fresh_until: null,
    overrides: null,
  };
  return clientOfRow(row, keyRing);
}

async function signed(key: KeyObject, kid?: string): Promise<CompactJws> {
  const header = { alg: 'ES256', ...(kid === undefined ? {} : { kid }) };
  const jws = parseCompactJws(await new SignJWT({}).setProtectedHeader(header).sign(key));
  if (jws === undefined) throw new Error('no JWS');
  return jws;
}

const URI = 'https://app.example/keys';

/** Returns the response that a test sets, and counts requests. */
class OutboundStub implements Pick<OutboundHttp, 'get'> {
  asked = 0;
  wasConfigured: boolean | undefined;
  body: string | undefined;
  failure: NotSent['reason'] = 'connection';

  publish(...keys: unknown[]): void {
    this.body = JSON.stringify({ keys });
  }

  async get(_url: string, options: { isConfigured?: boolean }): Promise<Fetched | NotSent> {
    this.asked += 1;
    this.wasConfigured = options.isConfigured;
    await Promise.resolve();
    if (this.body === undefined) return { ok: false, reason: this.failure };
    return { ok: true, mediaType: 'application/json', body: Buffer.from(this.body), freshForSeconds: 600 };
  }
}

describe("a client's signature", () => {
  test('is valid with the key that it names', async () => {
    const keys = new ClientKeys(new PublishedKeys({ outbound: new OutboundStub(), clock: new FakeClock() }));
    const both = client(jwk(one, 'one'), jwk(other, 'other'));
    expect(await keys.verify(both, await signed(other.privateKey, 'other'))).toEqual({ ok: true });
    const misnamed = await keys.verify(both, await signed(other.privateKey, 'one'));
    expect(misnamed).toEqual({ ok: false, reason: 'bad-signature' });
    const unknown = await keys.verify(both, await signed(other.privateKey, 'third'));
    expect(unknown).toEqual({ ok: false, reason: 'unknown-key' });
  });

  test('is valid with any of the keys when it names none, or they have no names', async () => {
    const keys = new ClientKeys(new PublishedKeys({ outbound: new OutboundStub(), clock: new FakeClock() }));
    const named = client(jwk(one, 'one'), jwk(other, 'other'));
    expect(await keys.verify(named, await signed(other.privateKey))).toEqual({ ok: true });
    const unnamed = client(jwk(one), jwk(other));
    expect(await keys.verify(unnamed, await signed(other.privateKey, 'third'))).toEqual({ ok: true });
  });

  test('without a key name is checked with at most five keys to limit the cost', async () => {
    const keys = new ClientKeys(new PublishedKeys({ outbound: new OutboundStub(), clock: new FakeClock() }));
    const many = [...Array.from({ length: 5 }, pair), one].map((each, index) => jwk(each, `kid ${index}`));
    expect(await keys.verify(client(...many), await signed(one.privateKey))).toMatchObject({ ok: false });
    expect(await keys.verify(client(...many.slice(1)), await signed(one.privateKey))).toEqual({ ok: true });
  });

  test('of a client with other keys, of another type or none at all, is invalid', async () => {
    const keys = new ClientKeys(new PublishedKeys({ outbound: new OutboundStub(), clock: new FakeClock() }));
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
    for (const mistaken of [client(), client(jwk(rsa)), client({ ...jwk(one), use: 'enc' })]) {
      expect(await keys.verify(mistaken, await signed(one.privateKey))).toEqual({ ok: false, reason: 'unknown-key' });
    }
    const foreign = await keys.verify(client(jwk(other)), await signed(one.privateKey));
    expect(foreign).toEqual({ ok: false, reason: 'bad-signature' });
  });
});

describe('published keys of a client', () => {
  function published() {
    const outbound = new OutboundStub();
    const clock = new FakeClock();
    const keys = new ClientKeys(new PublishedKeys({ outbound, clock }));
    const owner = clientOf({ jwks_uri: URI });
    return { outbound, clock, verify: async (jws: CompactJws) => await keys.verify(owner, jws) };
  }
  const unavailable = { ok: false, reason: 'keys-unavailable' };

  test('of a managed client may not be on the internal network: only the operator configures such addresses', async () => {
    const outbound = new OutboundStub();
    outbound.publish(jwk(one, 'one'));
    const keys = new ClientKeys(new PublishedKeys({ outbound, clock: new FakeClock() }));
    const managed = clientOf({ jwks_uri: URI }, 'managed');
    expect(await keys.verify(managed, await signed(one.privateKey, 'one'))).toEqual({ ok: true });
    expect(outbound.wasConfigured).toBe(false);
  });

  test('are fetched once while fresh, also by concurrent requests', async () => {
    const { outbound, clock, verify } = published();
    outbound.publish(jwk(one, 'one'));
    const jws = await signed(one.privateKey, 'one');
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => verify(jws)));
    expect(outcomes.every(({ ok }) => ok)).toBe(true);
    expect(outbound).toMatchObject({ asked: 1, wasConfigured: true });
    clock.advanceSeconds(599);
    expect(await verify(jws)).toEqual({ ok: true });
    expect(outbound.asked).toBe(1);
    clock.advanceSeconds(1);
    expect(await verify(jws)).toEqual({ ok: true });
    expect(outbound.asked).toBe(2);
  });

  test('are fetched again for a new kid, once a minute', async () => {
    const { outbound, clock, verify } = published();
    outbound.publish(jwk(one, 'one'));
    expect(await verify(await signed(one.privateKey, 'one'))).toEqual({ ok: true });
    outbound.publish(jwk(one, 'one'), jwk(other, 'other'));
    const rolled = await signed(other.privateKey, 'other');
    expect(await verify(rolled)).toEqual({ ok: false, reason: 'unknown-key' });
    expect(outbound.asked).toBe(1);
    clock.advanceSeconds(60);
    expect(await verify(rolled)).toEqual({ ok: true });
    for (let index = 0; index < 10; index += 1) await verify(await signed(other.privateKey, `unknown ${index}`));
    expect(outbound.asked).toBe(2);
    outbound.publish(jwk(other, 'other'));
    clock.advanceSeconds(600);
    expect(await verify(await signed(one.privateKey, 'one'))).toEqual({ ok: false, reason: 'unknown-key' });
  });

  test('are used for a day while no newer copy is available', async () => {
    const { outbound, clock, verify } = published();
    outbound.publish(jwk(one, 'one'));
    const jws = await signed(one.privateKey, 'one');
    expect(await verify(jws)).toEqual({ ok: true });
    outbound.body = undefined;
    clock.advanceSeconds(86_400);
    expect(await verify(jws)).toEqual({ ok: true });
    expect(await verify(jws)).toEqual({ ok: true });
    expect(outbound.asked).toBe(2);
    clock.advanceSeconds(1);
    expect(await verify(jws)).toEqual(unavailable);
    outbound.publish(jwk(one, 'one'));
    clock.advanceSeconds(60);
    expect(await verify(jws)).toEqual({ ok: true });
  });

  test.each([undefined, '', 'no JSON', '[]', '{}', '{"keys":{}}', '{"keys":[],"keys":[]}'])(
    'that are unavailable (%j) are requested once a minute',
    async (body) => {
      const { outbound, clock, verify } = published();
      outbound.body = body;
      const jws = await signed(one.privateKey, 'one');
      for (let index = 0; index < 5; index += 1) expect(await verify(jws)).toEqual(unavailable);
      expect(outbound.asked).toBe(1);
      clock.advanceSeconds(60);
      outbound.publish(jwk(one, 'one'));
      expect(await verify(jws)).toEqual({ ok: true });
    },
  );

  test('are requested again immediately when nothing was sent because of too many requests in flight', async () => {
    const { outbound, verify } = published();
    outbound.failure = 'busy';
    const jws = await signed(one.privateKey, 'one');
    expect(await verify(jws)).toEqual(unavailable);
    outbound.publish(jwk(one, 'one'));
    expect(await verify(jws)).toEqual({ ok: true });
  });

  test('are cached for as many sets as have five thousand keys, evicting the oldest first (S-35)', async () => {
    const outbound = new OutboundStub();
    outbound.publish(...Array.from({ length: 50 }, () => jwk(one)));
    const keys = new ClientKeys(new PublishedKeys({ outbound, clock: new FakeClock() }));
    const jws = await signed(one.privateKey);
    const clients = Array.from({ length: 101 }, (_, index) => clientOf({ jwks_uri: `${URI}/${index}` }));
    for (const client of clients) expect(await keys.verify(client, jws)).toEqual({ ok: true });
    for (const client of clients.slice(1)) await keys.verify(client, jws);
    expect(outbound.asked).toBe(101);
    await keys.verify(clientOf({ jwks_uri: `${URI}/0` }), jws);
    expect(outbound.asked).toBe(102);
  });
});
