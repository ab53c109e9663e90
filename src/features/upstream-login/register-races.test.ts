import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '#platform/base/ids.ts';
import { Browser } from '#test/support/browser.ts';
import { sql } from '#test/support/fixtures.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { startUpstreamPeer } from '#test/support/upstream-peer.ts';
import type { UpstreamProviderId } from '#vocabulary/ids.ts';

const [PLAIN, SET, ADD] = [newId<'upstream-provider'>(1), newId<'upstream-provider'>(2), newId<'upstream-provider'>(3)];
const ROUNDS = 100;
let one: TestService;
/** Another instance on the same database. */
let other: TestService;

const peer = await sharedByTests(startUpstreamPeer());

beforeAll(async () => {
  const shared = { issuer: peer.issuer, client_id: 'latchkey', token_endpoint_auth_method: 'none' };
  const unlimited = { burst: 1_000_000, per_second: 1_000_000 };
  const imports = (on_conflict: string) => ({ localpart: { action: 'force', on_conflict } });
  const settings = {
    rate_limiting: { upstream: { per_ip: unlimited }, registration: unlimited, registration_check: unlimited },
    upstream_oauth2: {
      providers: [
        { id: PLAIN, ...shared },
        { id: SET, ...shared, claims_imports: imports('set') },
        { id: ADD, ...shared, claims_imports: imports('add') },
      ],
    },
  };
  one = await startService(settings);
  other = await startService(settings, { like: one });
});
afterAll(async () => {
  await other.stop();
  await one.stop();
});

function browsers(): readonly [Browser, Browser] {
  const at = ({ address, publicBase }: TestService) => new Browser({ listener: address, publicBase });
  return [at(one), at(other)];
}

async function comeBack(browser: Browser, id: UpstreamProviderId, claims: Readonly<Record<string, string>>) {
  await browser.get(`/upstream/authorize/${id}`);
  await browser.get(peer.signIn(browser.page.location ?? '', { claims }));
  await browser.get(new URL(browser.page.location ?? '').pathname);
}

/** Creates an account. Returns the statuses of two users who submit their pages for it at the same time. */
async function race(id: UpstreamProviderId, username: string, subjects: readonly [string, string]): Promise<string> {
  await sql(
    one.database,
    `insert into users (id, username, username_key, created_at)
     values (gen_random_uuid(), '${username}', '${username}', now())`,
  );
  const both = browsers();
  await comeBack(both[0], id, { sub: subjects[0], preferred_username: username });
  await comeBack(both[1], id, { sub: subjects[1], preferred_username: username });
  const pages = await Promise.all(both.map(async (browser) => await browser.submit()));
  return pages
    .map(({ status }) => status)
    .toSorted()
    .join();
}

async function linksOf(username: string): Promise<number> {
  const links = `select l.id from upstream_links l join users u on u.id = l.user_id where u.username = '${username}'`;
  return (await sql(one.database, links)).length;
}

test('two registrations with one identity, on two instances, create one account (S-96, S-100)', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const both = browsers();
    const finishes: string[] = [];
    for (const [index, browser] of both.entries()) {
      await comeBack(browser, PLAIN, { sub: `identity ${round}` });
      await browser.submit({ username: `name${round}-${index}` });
      await browser.follow();
      finishes.push(new URL((await browser.submit({ action: 'skip' })).location ?? '').pathname);
    }
    const pages = await Promise.all(both.map(async (browser, index) => await browser.get(finishes[index] ?? '')));
    expect(pages.map(({ status }) => status).toSorted()).toEqual([303, 409]);
  }
  const [counts] = await sql(
    one.database,
    `select (select count(*)::integer from users) as users, (select count(*)::integer from user_sessions) as sessions,
            (select count(*)::integer from upstream_links where user_id is not null) as links`,
  );
  expect(counts).toEqual({ users: ROUNDS, sessions: ROUNDS, links: ROUNDS });
}, 300_000);

test('two users with the name of one account: with set the first gets it, with add both do (S-100)', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const subjects = [`first ${round}`, `second ${round}`] as const;
    expect(await race(SET, `set${round}-wanted`, subjects)).toBe('303,409');
    expect(await linksOf(`set${round}-wanted`)).toBe(1);
    expect(await race(ADD, `add${round}-wanted`, subjects)).toBe('303,303');
    expect(await linksOf(`add${round}-wanted`)).toBe(2);
  }
}, 300_000);

test('one identity in two browsers takes over an account once, and the other sees that it is taken (S-100)', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const subject = `same ${round}`;
    // The later one may find the identity already linked. It then signs in with it.
    expect(['303,303', '303,409']).toContain(await race(ADD, `same${round}-wanted`, [subject, subject]));
    expect(await linksOf(`same${round}-wanted`)).toBe(1);
  }
}, 300_000);
