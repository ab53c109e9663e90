/** A failing upstream provider, and users who sign in through others (security F-19, operations 9.3). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { startService, type TestService } from '../support/service.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';
import { type PeerResponse, startUpstreamPeer } from '../support/upstream-peer.ts';

const ID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const OTHER_ID = '01HZX7T3Q8V3M5N6P7R8S9T0AC';
const FAILURES = 5;
const REST_MS = 10_000;
const CALLS_AT_ONCE = 20;
let service: TestService;
let offset = 0;

const peer = await sharedByTests(startUpstreamPeer());
const other = await sharedByTests(startUpstreamPeer());

beforeAll(async () => {
  const shared = { client_id: 'latchkey', token_endpoint_auth_method: 'none', fetch_userinfo: true };
  service = await startService(
    {
      rate_limiting: { upstream: { per_ip: { burst: 100_000 } } },
      upstream_oauth2: {
        providers: [
          { id: ID, issuer: peer.issuer, ...shared },
          { id: OTHER_ID, issuer: other.issuer, ...shared },
        ],
      },
    },
    { clock: { now: () => Date.now() + offset }, expectedErrors: [' 502 '] },
  );
});
afterAll(async () => {
  await service.stop();
});
afterEach(() => {
  peer.handlers.clear();
  // Expires cached failures.
  offset += 60_000;
});

async function signIn(at = peer, response: PeerResponse = {}): Promise<number> {
  const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
  await browser.get(`/upstream/authorize/${at === peer ? ID : OTHER_ID}`);
  // After the end of this test, despite its clock offsets.
  const claims = { exp: Math.floor(Date.now() / 1000) + 86_400, ...response.claims };
  return (await browser.get(at.signIn(browser.page.location ?? '', { ...response, claims }))).status;
}

function breakOff(request: IncomingMessage): void {
  request.socket.destroy();
}

function fail(_: IncomingMessage, response: ServerResponse): void {
  response.writeHead(503).end();
}

test.each([
  ['/token', 'a broken connection', breakOff, 2],
  ['/token', '503', fail, 1],
  ['/userinfo', '503', fail, 1],
] as const)(
  'F-19: %s with %s five times in a row is skipped for ten seconds, then tried by one user, and used again once it recovers',
  async (path, _, failure, requestsEach) => {
    peer.handlers.set(path, failure);
    const before = peer.count(path);
    for (let count = 0; count < FAILURES + 3; count += 1) expect(await signIn()).toBe(502);
    expect(peer.count(path) - before).toBe(FAILURES * requestsEach);
    expect(service.logLines().findLast((line) => line.includes('upstream.failed'))).toContain('resting');
    expect(await signIn(other)).toBe(303);

    offset += REST_MS;
    for (let count = 0; count < 3; count += 1) expect(await signIn()).toBe(502);
    expect(peer.count(path) - before).toBe((FAILURES + 1) * requestsEach);

    peer.handlers.clear();
    expect(await signIn(), 'back, and still left alone').toBe(502);
    offset += REST_MS;
    expect([await signIn(), await signIn()]).toEqual([303, 303]);
  },
);

test('F-19: a provider that responds at all is asked again by the next user', async () => {
  const before = peer.count('/token');
  for (const body of ['<html>', '[]', '{"error":"invalid_grant"}', '{', '', '{"id_token":1}', 'x'.repeat(1_100_000)]) {
    peer.handlers.set('/token', (_request, response) => response.writeHead(200).end(body));
    expect(await signIn()).toBe(502);
  }
  peer.handlers.clear();
  expect(await signIn()).toBe(303);
  expect(peer.count('/token') - before).toBe(8);
});

test('F-19: a provider that occupies all its slots does not delay another one on the same host', async () => {
  const held: ServerResponse[] = [];
  peer.handlers.set('/token', (_request, response) => held.push(response));
  const waiting = Array.from({ length: CALLS_AT_ONCE + 5 }, () => signIn());
  await expect.poll(() => held.length, { timeout: 60_000 }).toBe(CALLS_AT_ONCE);
  expect(await signIn(other)).toBe(303);
  peer.handlers.set('/token', fail);
  for (const response of held) response.writeHead(503).end();
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([502]));
});

test('an ID token of 70 KB, 200 KB of keys and userinfo of 1 MiB are accepted, and one byte more is refused (operations 9.3)', async () => {
  const groups = (count: number): string[] => Array.from({ length: count }, (_, index) => `group-${index}`);
  expect(await signIn(peer, { claims: { groups: groups(5_000) } })).toBe(303);
  const sub = 'subject-1';
  expect(await signIn(peer, { userinfo: { sub, groups: groups(65_000) } })).toBe(303);
  const { keys } = await (await fetch(`${peer.issuer}/keys`)).json();
  const certified = { ...keys[0], x5c: Array.from({ length: 100 }, () => 'x'.repeat(2_000)) };
  peer.handlers.set('/keys', (_request, response) => response.end(JSON.stringify({ keys: [certified] })));
  // Expires the cached keys.
  offset += 3_700_000;
  const fetches = peer.count('/keys');
  expect([await signIn(), peer.count('/keys')]).toEqual([303, fetches + 1]);
  const empty = JSON.stringify({ sub, groups: '' }).length;
  expect(await signIn(peer, { userinfo: { sub, groups: 'x'.repeat(1_048_576 - empty) } })).toBe(303);
  expect(await signIn(peer, { userinfo: { sub, groups: 'x'.repeat(1_048_577 - empty) } })).toBe(502);
});
