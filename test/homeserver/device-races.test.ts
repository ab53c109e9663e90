/** Concurrent sign-ins and sign-outs of one user, through all protocols and at two instances (I-24, S-103). */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Browser } from '#test/support/browser.ts';
import { ChatClient, textOf } from '#test/support/chat-client.ts';
import { ChatOAuthClient, chatClientSettings } from '#test/support/chat-oauth-client.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { notifyHomeserver } from '#test/support/stand-in-homeserver/run-jobs.ts';
import { startStandInHomeserver } from '#test/support/stand-in-homeserver/stand-in-homeserver.ts';

const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1TWB';
const SECRET = 'shared-secret-of-the-test';
const PASSWORD = 'correct horse battery staple';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const CLIENTS = 100;
const DEVICES = ['DEVICEAAAA', 'DEVICEBBBB', 'DEVICECCCC', 'DEVICEDDDD'];
const API = 'urn:chat:client:api:*';
const TIMEOUT_MS = 120_000;
/** On a slow machine, some requests time out while they wait for the lease. */
const BUSY = ['503 Service Unavailable'];

/** What one client did, and when. Times are those of this process, which also runs the homeserver. */
interface Life {
  readonly device: string;
  readonly asked: number;
  /** Undefined if the sign-in failed. */
  answered: number | undefined;
  token: string | undefined;
  leaving: number | undefined;
}

const clock = new FakeClock();
const lives: Life[] = [];
const deletions: { readonly device: string; readonly at: number }[] = [];
let first: TestService;
let second: TestService;

const homeserver = await sharedByTests(startStandInHomeserver(SECRET));

beforeAll(async () => {
  const { endpoint, serverName } = homeserver;
  const settings = {
    http: { public_base: 'https://auth.example.test/' },
    homeserver: { kind: 'synapse', homeserver: serverName, endpoint, secret: SECRET },
    clients: [chatClientSettings(CLIENT, { first_party: true })],
    passwords: { schemes: [{ version: 1, algorithm: 'argon2id', memory_kib: 64, iterations: 1 }] },
    rate_limiting: { login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT } },
  };
  first = await startService(settings, { clock, expectedErrors: BUSY });
  second = await startService(settings, { clock, like: first, expectedErrors: BUSY });
  await first.registerUser('amira', PASSWORD);
  await notifyHomeserver(first.core);
  const devices = homeserver.user('amira')?.devices ?? expect.fail('the homeserver was not told');
  const forget = devices.delete.bind(devices);
  devices.delete = (device) => {
    deletions.push({ device, at: performance.now() });
    return forget(device);
  };
});

afterAll(async () => {
  await second.stop();
  await first.stop();
});

async function introspect(token: string): Promise<boolean> {
  const response = await fetch(`${first.address}/oauth2/introspect`, {
    method: 'POST',
    headers: { authorization: `Bearer ${SECRET}` },
    body: new URLSearchParams({ token }),
  });
  const body: Record<string, unknown> = await response.json();
  return body['active'] === true;
}

async function activeDevices(): Promise<string[]> {
  const rows = await sql<{ device_id: string }>(
    first.database,
    `select device_id from oauth2_sessions where finished_at is null
     union all select device_id from compat_sessions where finished_at is null order by 1`,
    [],
  );
  return rows.map(({ device_id }) => device_id);
}

async function live(
  life: Life,
  signIn: () => Promise<string | undefined>,
  signOut: (token: string) => Promise<unknown>,
) {
  life.token = await signIn();
  if (life.token === undefined) return;
  life.answered = performance.now();
  if (lives.indexOf(life) % 3 === 0) return;
  await pause(Math.random() * 50);
  life.leaving = performance.now();
  await signOut(life.token);
}

/**
 * Returns the period in which the client's device had to exist: until it signed out, or another sign-in may have
 * replaced it.
 */
function hadToExist(life: Life): { from: number; until: number } | undefined {
  const { answered: responded, device, leaving = Number.POSITIVE_INFINITY } = life;
  if (responded === undefined) return undefined;
  const replaced = lives
    .filter((other) => other !== life && other.device === device)
    .filter((other) => (other.answered ?? Number.POSITIVE_INFINITY) > responded)
    .map((other) => Math.max(other.asked, responded));
  return { from: responded, until: Math.min(leaving, ...replaced) };
}

test(
  `${CLIENTS} concurrent sign-ins and sign-outs leave one session per device, and remove no device in use (I-24)`,
  async () => {
    const browser = new Browser({ listener: first.address, publicBase: first.publicBase });
    await browser.open('/login');
    await browser.submit({ username: 'amira', password: PASSWORD });
    clock.advanceSeconds(1);
    const deviceOf = (index: number) => DEVICES[index % DEVICES.length] ?? '';
    const codes: string[] = [];
    for (let index = 0; index < CLIENTS; index += 2) {
      const scope = `${API} urn:chat:client:device:${deviceOf(index / 2)}`;
      codes.push(await new ChatOAuthClient(first, CLIENT).code(browser, scope));
    }
    const storm = codes.flatMap((code, index) => {
      const device = deviceOf(index);
      const at = index % 2 === 0 ? first : second;
      const requested = performance.now();
      const begun = [1, 2].map(() => ({
        device,
        asked: requested,
        answered: undefined,
        token: undefined,
        leaving: undefined,
      }));
      const [byCode, byPassword] = begun;
      if (byCode === undefined || byPassword === undefined) return [];
      lives.push(...begun);
      const oauth = new ChatOAuthClient(at, CLIENT);
      const compat = new ChatClient(at);
      return [
        live(
          byCode,
          async () => {
            const { status, body } = await oauth.exchange(code);
            expect([200, 503]).toContain(status);
            return status === 200 ? String(body['access_token']) : undefined;
          },
          async (token) => await oauth.revoke(token),
        ),
        live(
          byPassword,
          async () => {
            const response = await compat.tryLogin('amira', PASSWORD, { device_id: device });
            expect([200, 503]).toContain(response.status);
            return response.status === 200 ? textOf(response, 'access_token') : undefined;
          },
          async (token) => await compat.post('/logout', undefined, { authorization: `Bearer ${token}` }),
        ),
      ];
    });
    let isStorming = true;
    const jobs = [first, second].map(async ({ core }) => {
      while (isStorming) {
        await notifyHomeserver(core);
        await pause(5);
      }
    });
    await Promise.all(storm);
    isStorming = false;
    await Promise.all(jobs);
    // Jobs that were postponed because another holder had the lease.
    clock.advanceSeconds(10);
    await notifyHomeserver(first.core);

    expect(lives.filter(({ answered: responded }) => responded !== undefined).length).toBeGreaterThan(CLIENTS / 4);
    const active = await activeDevices();
    expect(new Set(active).size, 'one session for each device').toBe(active.length);
    expect([...(homeserver.user('amira')?.devices.keys() ?? [])].toSorted()).toEqual(active);
    const alive: string[] = [];
    for (const { token, device } of lives) if (token !== undefined && (await introspect(token))) alive.push(device);
    expect(alive.toSorted()).toEqual(active);
    const wrong = lives.flatMap((life) => {
      const time = hadToExist(life);
      if (time === undefined) return [];
      return deletions.filter(({ device, at }) => device === life.device && at > time.from && at < time.until);
    });
    expect(wrong, 'devices that were deleted under a living session').toEqual([]);
    expect(deletions.length).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);
