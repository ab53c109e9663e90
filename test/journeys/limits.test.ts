/** The default rate limits of browser-flows 14, enforced by the database. Two instances share each limit. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '#config/load.ts';
import { Browser, type Page } from '#test/support/browser.ts';
import { ssoPath } from '#test/support/chat-sso.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { linkAccount } from '#test/support/link-account.ts';
import { beginRegistration } from '#test/support/registering.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { startUpstreamPeer } from '#test/support/upstream-peer.ts';
import { bundleWorker } from '#test/support/worker-entry.ts';
import { queryTicket } from '../support/account-operations.ts';

const PASSWORD = 'correct horse battery staple';
const PROVIDER = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const MINUTE = 60;
const HOUR = 3600;

/** Two instances of one service. */
type Pair = readonly [TestService, TestService];

const clock = new FakeClock();
let open: Pair;
/** On the same database, with registration only by token. */
let invited: Pair;
/** Also there, with unlimited registrations, so that the email limits can be reached. */
let mailing: Pair;
let lastAddress = 0;

const peer = await sharedByTests(startUpstreamPeer());

beforeAll(async () => {
  const settings = {
    email: { transport: 'file' },
    account: {
      password_registration_enabled: true,
      password_registration_email_required: false,
      password_recovery_enabled: true,
    },
    upstream_oauth2: {
      providers: [{ id: PROVIDER, issuer: peer.issuer, client_id: 'latchkey', token_endpoint_auth_method: 'none' }],
    },
  };
  const byToken = { ...settings, account: { ...settings.account, password_registration_token_required: true } };
  const strengthWorker = await bundleWorker(
    new URL('../../src/domain/accounts/passwords/strength.worker.ts', import.meta.url),
  );
  const one = await startService(settings, { clock, strengthWorker });
  const another = { clock, strengthWorker, like: one };
  open = [one, await startService(settings, another)];
  invited = [await startService(byToken, another), await startService(byToken, another)];
  const busy = {
    ...settings,
    account: { ...settings.account, password_registration_email_required: true },
    rate_limiting: { registration: { burst: 1000 } },
  };
  mailing = [await startService(busy, another), await startService(busy, another)];
  const victim = await one.registerUser('victim', PASSWORD);
  await linkAccount(one.database, { providerId: PROVIDER, userId: victim, subject: 'victim' });
  await one.registerUser('owner', PASSWORD);
  await one.registerUser('taken', PASSWORD);
});

afterAll(async () => {
  const [owner, ...others] = [...open, ...invited, ...mailing];
  for (const service of others) await service.stop();
  await owner?.stop();
});

function newAddress(): string {
  lastAddress += 1;
  return `10.1.${lastAddress >> 8}.${lastAddress & 255}`;
}

/** Creates a browser at an instance, with the cookies of another one. */
function browserAt(service: TestService, address: string, cookies?: ReadonlyMap<string, string>): Browser {
  const browser = new Browser({
    listener: service.address,
    publicBase: service.publicBase,
    headers: { 'x-forwarded-for': address },
  });
  for (const [name, value] of cookies ?? []) browser.cookies.set(name, value);
  return browser;
}

async function signIn(browser: Browser, username: string, password: string): Promise<Page> {
  await browser.get('/login');
  return await browser.submit({ username, password });
}

async function recover(browser: Browser, email: string): Promise<Page> {
  await browser.get('/recover');
  return await browser.submit({ email });
}

let joined = 0;

/** Starts a registration with an email address. */
async function joinWith(browser: Browser, email: string): Promise<Page> {
  joined += 1;
  return await beginRegistration(browser, { username: `joining${joined}`, email });
}

/** Starts a registration up to the email verification. @returns an attempt that submits fields to that step */
async function beginProof(
  [service]: Pair,
  email: string,
  fields: (n: number) => Readonly<Record<string, string>>,
): Promise<Attempt> {
  const own = browserAt(service, newAddress());
  await joinWith(own, email);
  const { pathname } = new URL((await own.follow()).url);
  expect(pathname).toMatch(/\/verify-email$/);
  return async (instance, n) => {
    const browser = browserAt(instance, newAddress(), own.cookies);
    const { forms } = await browser.get(pathname);
    const csrf = forms[0]?.inputs.get('csrf') ?? expect.fail('no form');
    return await browser.post(pathname, new URLSearchParams({ csrf, ...fields(n) }));
  };
}

/** One counted attempt. `n` is different for each attempt. */
type Attempt = (service: TestService, n: number) => Promise<Page>;

interface Limit {
  /** Path below `rate_limiting`. */
  readonly setting: string;
  readonly burst: number;
  readonly refill: number;
  readonly per: number;
  /** Defaults to `open`. */
  readonly at?: () => Pair;
  /** Tokens that `begin` consumes. */
  readonly used?: number;
  /** Creates a new subject. @returns attempts that count against it */
  readonly begin: (services: Pair) => Promise<Attempt> | Attempt;
}

/** Returns attempts that share only their address. */
function fromOneAddress(attempt: (browser: Browser, n: number) => Promise<Page>) {
  return (): Attempt => {
    const address = newAddress();
    return (service, n) => attempt(browserAt(service, address), n);
  };
}

const LIMITS: readonly Limit[] = [
  {
    setting: 'login.per_ip',
    burst: 3,
    refill: 3,
    per: MINUTE,
    begin: fromOneAddress((browser, n) => signIn(browser, `nobody${n}`, 'wrong')),
  },
  {
    setting: 'login.per_account',
    burst: 100,
    refill: 100,
    per: HOUR,
    begin: () => (service) => signIn(browserAt(service, newAddress()), 'victim', 'wrong'),
  },
  {
    setting: 'login.per_known_browser',
    burst: 10,
    refill: 10,
    per: HOUR,
    begin: async ([service]) => {
      const own = browserAt(service, newAddress());
      expect((await signIn(own, 'owner', PASSWORD)).status).toBe(303);
      const known = new Map([...own.cookies].filter(([name]) => name.endsWith('known')));
      return (instance) => signIn(browserAt(instance, newAddress(), known), 'owner', 'wrong');
    },
  },
  {
    setting: 'registration',
    burst: 3,
    refill: 3,
    per: HOUR,
    begin: fromOneAddress((browser, n) => beginRegistration(browser, { username: `new${n}` })),
  },
  {
    setting: 'registration_check',
    burst: 30,
    refill: 30,
    per: HOUR,
    begin: fromOneAddress((browser) => beginRegistration(browser, { username: 'taken' })),
  },
  {
    setting: 'registration_token',
    burst: 10,
    refill: 10,
    per: HOUR,
    at: () => invited,
    begin: async ([service]) => {
      const address = newAddress();
      const own = browserAt(service, address);
      await beginRegistration(own, { username: 'guest' });
      await own.follow();
      await own.submit({ action: 'skip' });
      const { pathname } = new URL((await own.follow()).url);
      expect(pathname).toMatch(/\/token$/);
      return async (instance, n) => {
        const browser = browserAt(instance, address, own.cookies);
        await browser.get(pathname);
        return await browser.submit({ token: `guess ${n}` });
      };
    },
  },
  {
    setting: 'email_authentication.per_ip',
    burst: 5,
    refill: 1,
    per: MINUTE,
    at: () => mailing,
    begin: fromOneAddress((browser, n) => joinWith(browser, `many${n}@mail.example`)),
  },
  {
    setting: 'email_authentication.per_address',
    burst: 3,
    refill: 1,
    per: HOUR,
    at: () => mailing,
    begin: () => (service) => joinWith(browserAt(service, newAddress()), 'popular@mail.example'),
  },
  {
    setting: 'email_authentication.emails_per_session',
    burst: 2,
    refill: 12,
    per: HOUR,
    at: () => mailing,
    // The first email.
    used: 1,
    begin: (services) => beginProof(services, 'again@mail.example', () => ({ action: 'resend' })),
  },
  {
    setting: 'email_authentication.attempt_per_session',
    burst: 10,
    refill: 1,
    per: MINUTE,
    at: () => mailing,
    begin: (services) => {
      const code = (n: number) => String(100_000 + n);
      return beginProof(services, 'guessed@mail.example', (n) => ({ action: 'verify', code: code(n) }));
    },
  },
  {
    setting: 'account_recovery.per_ip',
    burst: 3,
    refill: 3,
    per: HOUR,
    begin: fromOneAddress((browser, n) => recover(browser, `somebody${n}@mail.example`)),
  },
  {
    setting: 'account_recovery.per_address',
    burst: 3,
    refill: 1,
    per: HOUR,
    begin: () => (service) => recover(browserAt(service, newAddress()), 'target@mail.example'),
  },
  {
    setting: 'device_code.per_ip',
    burst: 10,
    refill: 10,
    per: MINUTE,
    begin: fromOneAddress(async (browser) => {
      await browser.get('/link');
      return await browser.submit({ code: 'BCDF-GHJK' });
    }),
  },
  {
    setting: 'upstream.per_ip',
    burst: 30,
    refill: 1,
    per: 1,
    begin: fromOneAddress((browser) => browser.get(`/upstream/authorize/${PROVIDER}`)),
  },
  {
    setting: 'sso_redirect.per_ip',
    burst: 30,
    refill: 60,
    per: MINUTE,
    begin: fromOneAddress((browser) => browser.get(ssoPath('https://app.example/'))),
  },
];

function isRefused({ errorCodes }: Page): boolean {
  return errorCodes.some((code) => code === 'rate_limit_exceeded' || code === 'rate_limited');
}

/** Alternates between the instances until the burst is exhausted at both. */
async function expectBurst([one, other]: Pair, attempt: Attempt, burst: number): Promise<void> {
  for (let n = 0; n < burst; n += 1) {
    const page = await attempt(n % 2 === 0 ? one : other, n);
    expect(isRefused(page), `try ${n + 1} of ${burst}: ${page.text}`).toBe(false);
  }
  expect(isRefused(await attempt(one, burst)), 'the first instance').toBe(true);
  expect(isRefused(await attempt(other, burst + 1)), 'the second instance').toBe(true);
}

describe('limits of browser-flows 14, on two instances (S-89)', () => {
  const { rateLimiting } = loadConfig({ files: [], environment: {}, flags: {}, workingDirectory: '/nowhere' }).config;

  test.each(LIMITS)('rate_limiting.$setting: $burst at once, $refill per $per s', async (limit) => {
    const { setting, burst, refill, per, begin } = limit;
    const configured = setting
      .split('.')
      .map((part) => part.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()))
      .reduce<unknown>((value, name) => Object.entries(value ?? {}).find(([key]) => key === name)?.[1], rateLimiting);
    expect(configured).toEqual({ burst, perSecond: refill / per });

    const services = limit.at?.() ?? open;
    const attempt = await begin(services);
    await expectBurst(services, attempt, burst - (limit.used ?? 0));
    // Tokens are refilled one at a time, and not early.
    clock.advanceSeconds(per / refill - 0.5);
    expect(isRefused(await attempt(services[0], burst + 2))).toBe(true);
    clock.advanceSeconds(1);
    expect(isRefused(await attempt(services[1], burst + 3))).toBe(false);
    expect(isRefused(await attempt(services[0], burst + 4))).toBe(true);
  });

  test('recovery tickets: 20 opened at once, 20 per minute', async () => {
    const address = newAddress();
    const look = async (service: (typeof open)[number]) => {
      const page = await queryTicket(browserAt(service, address), 'A'.repeat(32));
      return { ...page, errorCodes: page.body.includes('RATE_LIMITED') ? ['rate_limited'] : [] };
    };
    await expectBurst(open, look, 20);
    clock.advanceSeconds(3);
    expect(isRefused(await look(open[0]))).toBe(false);
  });
});
