import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertTestAccount } from '#test/support/accounts.ts';
import { Browser } from '#test/support/browser.ts';
import { ChatOAuthClient, chatClientSettings } from '#test/support/chat-oauth-client.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { codesOf, GraphqlClient, type GraphqlResponse } from '#test/support/graphql-client.ts';
import { type Mails, startMails } from '#test/support/mails.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { bundleWorker } from '#test/support/worker-entry.ts';

const OLD = 'correct horse battery staple';
const NEW = 'seven purple walruses sing quietly';
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T5Y';
const STRENGTH_WORKER = new URL('../../domain/accounts/passwords/strength.worker.ts', import.meta.url);
const UNKNOWN = 'B'.repeat(32);

const clock = new FakeClock();
let strengthWorker: URL;
let mails: Mails;
let settings: Readonly<Record<string, unknown>>;
let service: TestService;
let users = 0;

beforeAll(async () => {
  strengthWorker = await bundleWorker(STRENGTH_WORKER);
  mails = await startMails();
  settings = {
    rate_limiting: {
      graphql: { authenticated: HIGH_LIMIT, anonymous: HIGH_LIMIT },
      login: { per_ip: HIGH_LIMIT },
      account_recovery: { per_ip: HIGH_LIMIT, per_address: { burst: 2, per_second: 0.001 } },
    },
    clients: [chatClientSettings(CLIENT)],
    limits: { handler_timeout: '10m' },
    graphql: { timeout: '5m' },
    account: { password_recovery_enabled: true },
    email: mails.settings,
  };
  service = await startService(settings, { clock, strengthWorker });
});

afterAll(async () => {
  await service.stop();
  await mails.stop();
});

/** Starts another instance with different settings. */
async function withService(more: Readonly<Record<string, unknown>>, work: (at: TestService) => Promise<void>) {
  const other = await startService({ ...settings, ...more }, { like: service, clock, strengthWorker });
  try {
    await work(other);
  } finally {
    await other.stop();
  }
}

interface TestUser {
  readonly username: string;
  readonly email: string;
}

async function newUser(): Promise<TestUser> {
  users += 1;
  const username = `pinar${users}`;
  const email = `${username}@mail.example`;
  const { database, core } = service;
  await insertTestAccount(database, { username, email, password: OLD }, { hasher: core.hasher, now: clock.now() });
  // Ticket lookups are rate limited per minute.
  clock.advanceSeconds(60);
  return { username, email };
}

function browserAt(at = service): Browser {
  return new Browser({ listener: at.address, publicBase: at.publicBase });
}

/** Returns the ticket from the recovery email to this user. */
async function ticketFor({ email }: TestUser): Promise<string> {
  const browser = browserAt();
  await browser.get('/recover');
  await browser.submit({ email }, { action: '/recover' });
  return await mailedTicket(email);
}

async function mailedTicket(email: string): Promise<string> {
  const mail = (await mails.deliver(service.core)).findLast(({ to, text }) => to === email && text.includes('ticket='));
  return /ticket=(\w{32})/.exec(mail?.text ?? '')?.[1] ?? expect.fail('no ticket');
}

/** An anonymous caller with a browser's cookies. */
function visitor(at = service): GraphqlClient {
  return new GraphqlClient(at, {}, browserAt(at));
}

const LOOK =
  'query PasswordRecovery($ticket: String!) { userRecoveryTicket(ticket: $ticket) { id createdAt status username email } }';
const RECOVER = `mutation RecoverPassword($ticket: String!, $newPassword: String!, $all: Boolean) {
  setPasswordByRecovery(input: { ticket: $ticket, newPassword: $newPassword, endAllSessions: $all }) { status score suggestions }
}`;
const RESEND = `mutation ResendRecoveryEmail($ticket: String!) {
  resendRecoveryEmail(input: { ticket: $ticket }) { status progressUrl }
}`;

async function look(ticket: string, caller = visitor()): Promise<unknown> {
  return Object((await caller.query(LOOK, { ticket })).data).userRecoveryTicket;
}

async function recover(ticket: string, caller = visitor(), more: object = {}): Promise<GraphqlResponse> {
  return await caller.query(RECOVER, { ticket, newPassword: NEW, ...more });
}

function statusOf({ data, errors }: GraphqlResponse): unknown {
  if (errors.length > 0) return errors.map(({ extensions }) => extensions['code']);
  const { setPasswordByRecovery, resendRecoveryEmail } = Object(data);
  return (setPasswordByRecovery ?? resendRecoveryEmail).status;
}

async function isGood({ username }: TestUser, password: string): Promise<boolean> {
  const browser = browserAt();
  await browser.get('/login');
  await browser.submit({ username, password });
  return browser.page.status === 303;
}

async function run(text: string, { email }: TestUser): Promise<void> {
  await sql(service.database, text.replaceAll('OWNER', '(select user_id from user_emails where email = $1::text)'), [
    email,
  ]);
}

describe('userRecoveryTicket (account-graphql 4.4)', () => {
  test('describes the ticket to its holder without consuming it, and is not readable as a node', async () => {
    const who = await newUser();
    const ticket = await ticketFor(who);
    const expected = {
      id: expect.stringMatching(/^user_recovery_ticket:[0-9A-HJKMNP-TV-Z]{26}$/),
      createdAt: new Date(clock.now()).toISOString(),
      status: 'VALID',
      ...who,
    };
    const first = await look(ticket);
    expect(first).toEqual(expected);
    expect(await look(ticket)).toEqual(first);
    const { id } = Object(first);
    expect((await visitor().query('query($id: ID!) { node(id: $id) { id } }', { id })).data).toEqual({ node: null });
    clock.advanceSeconds(600);
    expect(await look(ticket)).toEqual({ ...Object(first), status: 'EXPIRED' });
    expect(service.logLines().join('\n')).not.toContain(ticket);
  });

  test('is case-sensitive', async () => {
    const ticket = await ticketFor(await newUser());
    const swapped = [...ticket].map((sign) => (sign === sign.toUpperCase() ? sign.toLowerCase() : sign.toUpperCase()));
    expect(await look(swapped.join(''))).toBeNull();
  });

  test('no longer reveals the owner of a used ticket', async () => {
    const who = await newUser();
    const ticket = await ticketFor(who);
    const { id, createdAt } = Object(await look(ticket));
    expect(statusOf(await recover(ticket))).toBe('ALLOWED');
    expect(await look(ticket)).toEqual({ id, createdAt, status: 'CONSUMED', username: '', email: '' });
  });

  test.each([UNKNOWN, '', 'x', `${UNKNOWN}B`, '🔑'])('does not find %j', async (ticket) => {
    expect(await look(ticket)).toBeNull();
    expect(statusOf(await recover(ticket))).toBe('NO_SUCH_RECOVERY_TICKET');
    expect(statusOf(await visitor().query(RESEND, { ticket }))).toBe('NO_SUCH_RECOVERY_TICKET');
  });

  test('allows twenty lookups a minute from one address, across all fields (S-119)', async () => {
    const who = await newUser();
    const ticket = await ticketFor(who);
    const fields = [LOOK, RECOVER, RESEND];
    const caller = visitor();
    for (let count = 0; count < 20; count += 1) {
      const response = await caller.query(fields[count % 3] ?? '', { ticket: UNKNOWN, newPassword: NEW });
      expect(response.errors).toEqual([]);
    }
    expect(codesOf(await caller.query(LOOK, { ticket }))).toEqual(['RATE_LIMITED']);
    const refused = await recover(ticket, caller);
    expect([codesOf(refused), refused.errors[0]?.extensions['retryAfter']]).toEqual([['RATE_LIMITED'], 3]);
    expect(statusOf(await caller.query(RESEND, { ticket }))).toBe('RATE_LIMITED');
    expect(await isGood(who, OLD)).toBe(true);
  });
});

describe('setPasswordByRecovery (account-graphql 5.2)', () => {
  test('sets the password, ends all browser sessions and other tickets, and does not sign the user in', async () => {
    const who = await newUser();
    const there = await GraphqlClient.signedIn(service, who.username, OLD);
    const [ticket, another] = [await ticketFor(who), await ticketFor(who)];
    const here = visitor();
    const response = await recover(ticket, here);
    expect([response.status, response.data]).toEqual([
      200,
      { setPasswordByRecovery: { status: 'ALLOWED', score: null, suggestions: null } },
    ]);
    const line = service.logLines().at(-1);
    expect(line).toMatch(/graphql\.operation\.type=mutation graphql\.operation\.name=RecoverPassword$/);
    expect(line).not.toContain('requester=');
    for (const caller of [here, there]) {
      expect((await caller.query('{ viewer { __typename } }')).data).toEqual({ viewer: { __typename: 'Anonymous' } });
    }
    expect([await isGood(who, OLD), await isGood(who, NEW)]).toEqual([false, true]);
    for (const used of [ticket, another]) expect(statusOf(await recover(used))).toBe('RECOVERY_TICKET_ALREADY_USED');
    const told = service.logLines().findLast((text) => text.includes(' password.recovered '));
    expect(told).toMatch(/user=[0-9A-Z]{26} browser_sessions=1 oauth_sessions=0/);
    expect(service.logLines().join('\n')).not.toContain(ticket);
    const kinds = await sql<{ kind: string }>(
      service.database,
      'select e.kind from audit_events e join users u on u.id = e.user_id where u.username = $1::text',
      [who.username],
    );
    expect(kinds.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['password_recovered', 'session_ended']));
    expect(await mails.deliver(service.core)).toContainEqual(
      expect.objectContaining({ to: who.email, subject: expect.stringContaining('password was changed') }),
    );
  });

  test('shows a notice on the sign-in form for a minute, and closes the progress page', async () => {
    const who = await newUser();
    const browser = browserAt();
    await browser.get('/recover');
    const { location = '' } = await browser.submit({ email: who.email }, { action: '/recover' });
    const ticket = await mailedTicket(who.email);
    expect(statusOf(await recover(ticket, new GraphqlClient(service, {}, browser)))).toBe('ALLOWED');
    await browser.open('/account/');
    expect([new URL(browser.page.url).pathname, browser.page.text]).toEqual([
      '/login',
      expect.stringContaining('Your password has been reset.'),
    ]);
    expect((await browser.get(location)).text).toContain('Already used');
    expect((await browserAt().get('/login')).text).not.toContain('Your password has been reset.');
    clock.advanceSeconds(60);
    expect((await browser.get('/login')).text).not.toContain('Your password has been reset.');
  });

  test('sends a browser whose session it ended to the sign-in form', async () => {
    const who = await newUser();
    const caller = await GraphqlClient.signedIn(service, who.username, OLD);
    const ticket = await ticketFor(who);
    await run('update user_sessions set finished_at = created_at where user_id = OWNER', who);
    expect(statusOf(await recover(ticket, caller))).toBe('ALLOWED');
    expect((await caller.browser?.get('/'))?.text).not.toContain('You were signed out');
  });

  test.each<[string, object, object, number]>([
    ['stay', {}, {}, 0],
    ['end if the user asks for it', {}, { all: true }, 1],
    ['end if the configuration requires it', { recovery_signs_out_devices: true }, { all: false }, 1],
  ])('client sessions %s', async (_, account, more, ended) => {
    const who = await newUser();
    const { browser } = await GraphqlClient.signedIn(service, who.username, OLD);
    await new ChatOAuthClient(service, CLIENT).signIn(browser ?? expect.fail('no browser'), 'openid offline_access');
    const ticket = await ticketFor(who);
    await withService({ account: { password_recovery_enabled: true, ...account } }, async (other) => {
      expect(statusOf(await recover(ticket, visitor(other), more))).toBe('ALLOWED');
    });
    const [row] = await sql<{ ended: number }>(
      service.database,
      `select count(s.finished_at)::integer as ended from oauth2_sessions s join users u on u.id = s.user_id
        where u.username = $1::text`,
      [who.username],
    );
    expect(row?.ended).toBe(ended);
  });

  test.each<[string, string, string]>([
    ['the address was removed', 'delete from user_emails where user_id = OWNER', 'NO_SUCH_RECOVERY_TICKET'],
    [
      'the password was changed',
      'update user_passwords set id = gen_random_uuid() where user_id = OWNER',
      'RECOVERY_TICKET_ALREADY_USED',
    ],
    ['the password was removed', 'delete from user_passwords where user_id = OWNER', 'RECOVERY_TICKET_ALREADY_USED'],
    [
      'another account has the address now',
      "update user_emails set user_id = (select id from users where username = 'heir') where email = $1::text",
      'NO_SUCH_RECOVERY_TICKET',
    ],
    ['the account was locked', 'update users set locked_at = created_at where id = OWNER', 'ACCOUNT_LOCKED'],
    ['the account was deactivated', 'update users set deactivated_at = created_at where id = OWNER', 'ACCOUNT_LOCKED'],
  ])('is refused when %s', async (_, change, status) => {
    const who = await newUser();
    const ticket = await ticketFor(who);
    if (change.includes('heir')) await insertTestAccount(service.database, { username: 'heir' }, { now: clock.now() });
    await run(change, who);
    expect(statusOf(await recover(ticket))).toBe(status);
  });

  test('works for ten minutes (S-119)', async () => {
    const who = await newUser();
    const ticket = await ticketFor(who);
    clock.advanceSeconds(599);
    expect(statusOf(await recover(ticket, visitor(), { newPassword: 'baseball' }))).toBe('INVALID_NEW_PASSWORD');
    clock.advanceSeconds(1);
    expect(statusOf(await recover(ticket))).toBe('EXPIRED_RECOVERY_TICKET');
    expect(await isGood(who, OLD)).toBe(true);
  });

  test('keeps the ticket when the password is weak, and returns suggestions', async () => {
    const who = await newUser();
    const ticket = await ticketFor(who);
    const caller = visitor().with({ 'accept-language': 'es' });
    const weak = await recover(ticket, caller, { newPassword: who.email });
    const { status, score, suggestions } = Object(weak.data).setPasswordByRecovery;
    expect([status, typeof score, suggestions[0]]).toEqual([
      'INVALID_NEW_PASSWORD',
      'number',
      expect.stringContaining('fácil de adivinar'),
    ]);
    expect(statusOf(await recover(ticket, caller, { newPassword: '' }))).toBe('INVALID_NEW_PASSWORD');
    expect(statusOf(await recover(ticket, caller))).toBe('ALLOWED');
  });

  test('is limited to signed-out users, and refuses cross-site requests (S-119)', async () => {
    const who = await newUser();
    const ticket = await ticketFor(who);
    const signedIn = await GraphqlClient.signedIn(service, who.username, OLD);
    const refused = await recover(ticket, signedIn);
    expect([codesOf(refused), refused.errors[0]?.message]).toEqual([['FORBIDDEN'], 'Unauthorized']);
    const foreign = await recover(ticket, visitor().with({ origin: 'https://evil.example' }));
    expect([foreign.status, codesOf(foreign)]).toEqual([403, ['CSRF_REJECTED']]);
    expect(await isGood(who, OLD)).toBe(true);
  });

  test('sets the password once for concurrent requests with one ticket, or two of one account (S-100)', async () => {
    for (let round = 0; round < 5; round += 1) {
      const who = await newUser();
      const [ticket, another] = [await ticketFor(who), await ticketFor(who)];
      const passwords = [0, 1, 2].map((index) => `${NEW} ${index}`);
      const responses = await Promise.all(
        passwords.map((newPassword, index) => recover(index === 2 ? another : ticket, visitor(), { newPassword })),
      );
      const statuses = responses.map(statusOf);
      const winner = statuses.indexOf('ALLOWED');
      expect(statuses.toSorted()).toEqual(['ALLOWED', 'RECOVERY_TICKET_ALREADY_USED', 'RECOVERY_TICKET_ALREADY_USED']);
      expect(await isGood(who, passwords[winner] ?? '')).toBe(true);
      // The limit is two emails per address, so wait until more are allowed.
      clock.advanceSeconds(2000);
    }
  });

  test('sets the password once for eight requests with one ticket on two instances (S-100)', async () => {
    await withService({}, async (second) => {
      const who = await newUser();
      const ticket = await ticketFor(who);
      const responses = await Promise.all(
        Array.from({ length: 8 }, async (_, index) => {
          const caller = visitor(index % 2 === 0 ? service : second);
          return statusOf(await recover(ticket, caller, { newPassword: `${NEW} ${index}` }));
        }),
      );
      const others = responses.filter((status) => status !== 'ALLOWED');
      expect(others).toEqual(Array.from({ length: 7 }, () => 'RECOVERY_TICKET_ALREADY_USED'));
      expect(await isGood(who, `${NEW} ${responses.indexOf('ALLOWED')}`)).toBe(true);
    });
  });

  test('sets a first password for an account without one, if configured', async () => {
    const account = { password_recovery_enabled: true, recovery_sets_first_password: true };
    await withService({ account }, async (other) => {
      const who = await newUser();
      await run('delete from user_passwords where user_id = OWNER', who);
      const browser = browserAt(other);
      await browser.get('/recover');
      await browser.submit({ email: who.email }, { action: '/recover' });
      const mail = (await mails.deliver(other.core)).findLast(({ to }) => to === who.email);
      const ticket = /ticket=(\w{32})/.exec(mail?.text ?? '')?.[1] ?? expect.fail('no ticket');
      expect(statusOf(await recover(ticket, visitor(other)))).toBe('ALLOWED');
      expect(await isGood(who, NEW)).toBe(true);
    });
  });

  test.each([
    ['passwords are', { passwords: { enabled: false } }],
    ['recovery is', { account: { password_recovery_enabled: false } }],
  ])('while %s switched off it says so, and sends no mail', async (_, more) => {
    const ticket = await ticketFor(await newUser());
    await withService(more, async (closed) => {
      expect(statusOf(await recover(ticket, visitor(closed)))).toBe('PASSWORD_CHANGES_DISABLED');
      expect(statusOf(await visitor(closed).query(RESEND, { ticket }))).toEqual(['FEATURE_DISABLED']);
    });
  });
});

describe('resendRecoveryEmail (account-graphql 5.2)', () => {
  test('sends another mail for an expired ticket, and opens the progress page to this browser only', async () => {
    const who = await newUser();
    const ticket = await ticketFor(who);
    clock.advanceSeconds(600);
    const caller = visitor();
    const { data } = await caller.query(RESEND, { ticket });
    const { status, progressUrl } = Object(data).resendRecoveryEmail;
    expect([status, progressUrl]).toEqual(['SENT', expect.stringContaining(`${service.publicBase}recover/progress/`)]);
    expect((await caller.browser?.get(progressUrl))?.text).toContain(who.email);
    expect((await browserAt().get(progressUrl)).location).toBe(`${service.publicBase}recover`);
    expect(statusOf(await recover(await mailedTicket(who.email)))).toBe('ALLOWED');
    expect(statusOf(await caller.query(RESEND, { ticket }))).toBe('NO_SUCH_RECOVERY_TICKET');
  });

  test('respects the limits of the first mail', async () => {
    const ticket = await ticketFor(await newUser());
    expect(statusOf(await visitor().query(RESEND, { ticket }))).toBe('SENT');
    expect((await visitor().query(RESEND, { ticket })).data).toEqual({
      resendRecoveryEmail: { status: 'RATE_LIMITED', progressUrl: null },
    });
  });

  test('sends nothing for a finished recovery', async () => {
    const ticket = await ticketFor(await newUser());
    clock.advanceSeconds(3600);
    expect(statusOf(await visitor().query(RESEND, { ticket }))).toBe('NO_SUCH_RECOVERY_TICKET');
  });
});
