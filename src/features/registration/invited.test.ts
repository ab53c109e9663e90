import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { invitationProof } from '#domain/accounts/registrations/invitation.ts';
import { issueRegistrationToken, type WantedToken } from '#domain/accounts/registrations/issue-registration-token.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { Browser } from '#test/support/browser.ts';
import { expectCleanPage } from '#test/support/clean-page.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { insertUser, sql } from '#test/support/fixtures.ts';
import { type Mails, startMails } from '#test/support/mails.ts';
import { beginRegistration, codeSentTo } from '#test/support/registering.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { startUpstreamPeer, type UpstreamPeer } from '#test/support/upstream-peer.ts';
import { bundleWorker } from '#test/support/worker-entry.ts';

const SUGGESTING = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const FORCING = '01HZX7T3Q8V3M5N6P7R8S9T0AC';
const BURST = 10_000;

let clock: FakeClock;
let mails: Mails;
let peer: UpstreamPeer;
let service: TestService;
let count = 0;

beforeAll(async () => {
  clock = new FakeClock(Date.now());
  mails = await startMails();
  peer = await startUpstreamPeer();
  const provider = {
    ...{ issuer: peer.issuer, client_id: 'latchkey', client_secret: 'x'.repeat(32) },
    token_endpoint_auth_method: 'client_secret_basic',
  };
  const high = { burst: BURST };
  const entry = new URL('../../domain/accounts/passwords/strength.worker.ts', import.meta.url);
  service = await startService(
    {
      email: mails.settings,
      account: { password_registration_enabled: true },
      rate_limiting: {
        ...{ registration: high, registration_check: high, registration_token: high },
        email_authentication: { per_ip: high, per_address: high },
        upstream: { per_ip: high },
      },
      upstream_oauth2: {
        providers: [
          { id: SUGGESTING, ...provider },
          {
            ...{ id: FORCING, registration_token_required: true, ...provider },
            claims_imports: { email: { action: 'force' } },
          },
        ],
      },
    },
    { clock, strengthWorker: await bundleWorker(entry) },
  );
});
afterAll(async () => {
  await service.stop();
  await peer.stop();
  await mails.stop();
});
beforeEach(() => {
  clock.advanceSeconds(1);
  count += 1;
});

const newBrowser = () => new Browser({ listener: service.address, publicBase: service.publicBase });
const name = () => `invited-${count}`;
const address = () => `Invited-${count}@mail.example`;

interface Invited {
  readonly id: string;
  readonly token: string;
  /** Query of the link in an email. */
  readonly mailed: string;
}

async function invite(wanted: Partial<WantedToken> = {}, queuedAt = clock.now()): Promise<Invited> {
  const { core, database } = service;
  const email = { address: address(), key: address().toLowerCase() };
  const issued = await database.transaction((transaction) =>
    issueRegistrationToken(
      { ...core, database: transaction },
      { token: undefined, usageLimit: 1, expiresAt: undefined, email, groups: ['crew', 'deck'], ...wanted },
    ),
  );
  if (issued === undefined) throw new Error('the token exists');
  const { token } = issued;
  const id = toUuid(issued.id);
  await sql(database, 'update user_registration_tokens set mail_queued_at = $2::timestamptz where id = $1::uuid', [
    id,
    new Date(queuedAt),
  ]);
  const proof = invitationProof(core.secretKeys, id, queuedAt);
  return { id, token, mailed: `?token=${token}&proof=${proof}` };
}

/** Submits the first form. */
async function begin(query: string, email = 'elsewhere@mail.example'): Promise<Browser> {
  const browser = newBrowser();
  await beginRegistration(browser, { username: name(), email }, query);
  await browser.follow();
  return browser;
}

async function finish(browser: Browser): Promise<void> {
  await browser.submit({ action: 'skip' });
  expect((await browser.get(browser.page.location ?? '')).status).toBe(303);
}

/** The account, and how often the token was used. */
async function made(id: string): Promise<object | undefined> {
  const [row] = await sql<object>(
    service.database,
    `select array(select e.email from user_emails e where e.user_id = u.id) as emails, coalesce(u.groups, '{}') as groups,
            exists (select from user_registration_token_uses x where x.user_id = u.id and x.token_id = $2::uuid) as used,
            (select t.times_used from user_registration_tokens t where t.id = $2::uuid) as times
       from users u where u.username = $1::text`,
    [name(), id],
  );
  return row;
}

/** Number of attempts that were counted against the address. */
async function counted(): Promise<number> {
  const [row] = await sql<{ seconds: number }>(
    service.database,
    `select coalesce(max(extract(epoch from tat - $1::timestamptz)), 0)::float8 as seconds
       from rate_limits where key like 'registration-token:ip:%'`,
    [new Date(clock.now())],
  );
  return Math.ceil((row?.seconds ?? 0) / 360);
}

describe('an invitation for an address (administration A-16)', () => {
  test('that was sent by email locks and confirms it, and the account joins the groups', async () => {
    const admin = await insertUser(service.database, clock.now());
    const { id, mailed, token } = await invite({ createdBy: { user: admin, client: undefined } });
    const browser = newBrowser();
    await browser.open(`/register/password${mailed}`);
    expectCleanPage(browser.page.body);
    expect(browser.page.forms[0]?.inputs.get('email')).toBe(address());
    expect(browser.page.body).toMatch(/<input[^>]*readonly[^>]*id="email"|<input[^>]*id="email"[^>]*readonly/);
    await finish(await begin(mailed));
    expect(await mails.deliver(service.core)).toEqual([]);
    expect(await made(id)).toEqual({ emails: [address()], groups: ['crew', 'deck'], used: true, times: 1 });
    const events = await sql<object>(
      service.database,
      `select detail from audit_events where kind = 'groups_changed' and user_id = (
         select u.id from users u where u.username = $1::text)`,
      [name()],
    );
    expect(events).toEqual([{ detail: { actor: 'admin', admin } }]);
    expect(await counted()).toBe(0);
    const lines = service.logLines().join('\n');
    expect([token, mailed.slice(-20)].filter((secret) => lines.includes(secret))).toEqual([]);
    // Spent: the same link does not lock the address any more.
    const again = newBrowser();
    await again.open(`/register/password${mailed}`);
    expect(again.page.forms[0]?.inputs.get('email')).toBe('');
  });

  test('is confirmed by a code with the plain link, and cannot be replaced (S-201)', async () => {
    const { id, token } = await invite();
    const browser = await begin(`?token=${token}`);
    expect(browser.page.url).toMatch(/\/verify-email$/);
    const changed = await browser.submit({ action: 'change', email: 'elsewhere@mail.example' });
    expect(changed.errorCodes).toEqual(['invalid_action']);
    const code = codeSentTo(address(), await mails.deliver(service.core));
    await browser.submit({ action: 'verify', code });
    await browser.follow();
    await finish(browser);
    expect(await made(id)).toEqual({ emails: [address()], groups: ['crew', 'deck'], used: true, times: 1 });
  });

  test('needs a code if the proof is guessed, for another invitation, or from an earlier email (S-201)', async () => {
    const other = await invite();
    const { token, id } = await invite({}, clock.now() - 1000);
    const { secretKeys } = service.core;
    const proofs = [
      'guess',
      other.mailed.slice(-43),
      invitationProof(secretKeys, id, clock.now() - 2000),
      invitationProof(secretKeys, toUuid(newId(clock.now())), clock.now() - 1000),
    ];
    const before = await counted();
    for (const proof of proofs) {
      const browser = await begin(`?token=${token}&proof=${proof}`);
      expect([proof, browser.page.url]).toEqual([proof, expect.stringMatching(/\/verify-email$/)]);
    }
    expect((await counted()) - before, 'counts like a wrong token').toBe(proofs.length);
  });

  test('that was revoked is ignored, and one revoked before the end gives nothing', async () => {
    const revoked = await invite();
    const revoke = (id: string) =>
      sql(service.database, 'update user_registration_tokens set revoked_at = created_at where id = $1::uuid', [id]);
    await revoke(revoked.id);
    const browser = await begin(revoked.mailed);
    expect(browser.page.text).toContain('elsewhere@mail.example');
    const late = await invite();
    const slow = await begin(late.mailed);
    await revoke(late.id);
    await finish(slow);
    expect(await made(late.id)).toEqual({ emails: [address()], groups: [], used: false, times: 0 });
  });

  test('for any address adds the groups, although no token is required', async () => {
    const { id, token } = await invite({ email: undefined });
    const browser = await begin(`?token=${token}`, address());
    const code = codeSentTo(address(), await mails.deliver(service.core));
    await browser.submit({ action: 'verify', code });
    await browser.follow();
    await finish(browser);
    expect(await made(id)).toMatchObject({ groups: ['crew', 'deck'], used: true, times: 1 });
  });
});

describe('an invitation through a provider (administration A-18)', () => {
  /** Signs in at the provider. */
  async function comeBack(query: string, provider: string, email: string): Promise<Browser> {
    const browser = newBrowser();
    await browser.get(`/upstream/authorize/${provider}${query}`);
    const claims = { sub: name(), email, email_verified: true };
    await browser.open(peer.signIn(browser.page.location ?? '', { claims }));
    return browser;
  }

  test('uses the invited address instead of the suggested one, and confirms it', async () => {
    const { id, mailed } = await invite();
    const browser = await comeBack(mailed, SUGGESTING, 'elsewhere@mail.example');
    expect(browser.page.text).toContain(address());
    await browser.submit({ username: name() });
    await browser.follow();
    await finish(browser);
    expect(await made(id)).toEqual({ emails: [address()], groups: ['crew', 'deck'], used: true, times: 1 });
  });

  test('is not accepted with another address that the provider determines (S-201)', async () => {
    const { id, mailed, token } = await invite();
    const browser = await comeBack(mailed, FORCING, 'forced@mail.example');
    await browser.submit({ username: name() });
    await browser.follow();
    expect(browser.page.url).toMatch(/\/token$/);
    expect((await browser.submit({ token })).errorCodes).toEqual(['other_email']);
    // A token attached before is checked again at the end.
    await sql(
      service.database,
      'update user_registrations set registration_token_id = $2::uuid where username = $1::text',
      [name(), id],
    );
    await browser.get(browser.page.url.replace('/token', '/finish'));
    await browser.follow();
    expect(browser.page).toMatchObject({ url: expect.stringMatching(/\/token$/), errorCodes: ['invalid'] });
    expect(await made(id)).toBeUndefined();
  });
});
