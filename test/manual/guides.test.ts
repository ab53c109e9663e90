import { afterEach, describe, expect, test } from 'vitest';
import { queryTicket } from '../support/account-operations.ts';
import { Browser } from '../support/browser.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { sql } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.js';
import { startMails } from '../support/mails.ts';
import { beginRegistration, codeSentTo } from '../support/registering.ts';
import { type ServiceOptions, startService, type TestService } from '../support/service.ts';
import { bundleWorker } from '../support/worker-entry.ts';
import { Guide, PASSWORD, type RunningProgram, settingsOf, signInAt } from './guide.ts';
import { readPage } from './pages.ts';

const MINUTES = 60;

let service: TestService;
let clock: FakeClock;
const ends: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** Starts the service with the settings of guides, and creates an account. */
async function serve(
  settings: Readonly<Record<string, unknown>>,
  options: Pick<ServiceOptions, 'strengthWorker'> = {},
): Promise<void> {
  clock = new FakeClock(Date.now());
  service = await startService(settings, { clock, ...options });
  ends.push(() => service.stop());
  await service.registerUser('alice', PASSWORD);
}

function guide(path: string, addresses: Readonly<Record<string, string>> = {}): Guide {
  const made = new Guide(path, { 'http://localhost:8080': service.address, ...addresses });
  ends.push(() => made.end());
  return made;
}

function settingsWith(path: string, replace: (json: string) => string = (json) => json) {
  const settings: Readonly<Record<string, unknown>> = JSON.parse(replace(JSON.stringify(settingsOf(readPage(path)))));
  return settings;
}

/** The guide's app, as a browser sees it. */
class WebApp {
  readonly base: string;
  cookie = '';

  constructor(base: string) {
    this.base = base;
  }

  async request(method: string, address: string) {
    const headers = { cookie: this.cookie };
    const response = await fetch(new URL(address, this.base), { method, headers, redirect: 'manual' });
    const [cookie] = response.headers.get('set-cookie')?.split(';') ?? [];
    if (cookie !== undefined) this.cookie = cookie;
    return {
      status: response.status,
      location: response.headers.get('location') ?? '',
      body: await response.text(),
    };
  }
}

describe('guide "Registration"', () => {
  const PATH = 'docs/guides/registration.md';

  test('its settings require an address, whose code continues, and its rules refuse others', async () => {
    const mails = await startMails();
    ends.push(() => mails.stop());
    const worker = new URL('../../src/domain/accounts/passwords/strength.worker.ts', import.meta.url);
    const strengthWorker = await bundleWorker(worker);
    const { policy } = settingsOf(readPage(PATH), 1);
    await serve({ ...settingsWith(PATH), email: mails.settings, policy }, { strengthWorker });
    const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
    await browser.get('/login');
    expect(browser.page.text).toContain('Create an account');
    for (const [email, code] of [
      ['bela@elsewhere.example', 'email-domain-not-allowed'],
      ['bela@a.mail.example.org', 'email-domain-not-allowed'],
      ['bela@guests.example.org', 'email-domain-banned'],
      ['noreply@example.org', 'email-banned'],
    ] as const) {
      expect((await beginRegistration(browser, { username: 'bela', email })).errorCodes).toEqual([code]);
    }
    await beginRegistration(browser, { username: 'bela', email: 'bela@mail.example.org' });
    expect(new URL((await browser.follow()).url).pathname).toMatch(/verify-email$/);
    await browser.submit({ code: codeSentTo('bela@mail.example.org', await mails.deliver(service.core)) });
    expect(new URL((await browser.follow()).url).pathname).toMatch(/display-name$/);
  });

  test('its steps are the mounted ones', async () => {
    await serve(settingsOf(readPage(PATH), 2));
    const { codes } = readPage(PATH);
    const steps = service.routes.flatMap(({ path }) => (path.startsWith('/register/steps/') ? [path] : []));
    const told = steps.map((path) => path.replace(':id', '{id}'));
    expect(told.filter((path) => !codes.includes(path))).toEqual([]);
    expect(service.core.registrationMethods.password).toMatchObject({ isOpen: true, isTokenRequired: true });
  });
});

describe('guide "Recovery"', () => {
  test('its settings send a link that leads to the form for a new password', async () => {
    const mails = await startMails();
    ends.push(() => mails.stop());
    const settings = settingsWith('docs/guides/recovery.md');
    await serve({ ...settings, email: mails.settings });
    await sql(
      service.database,
      `insert into user_emails (id, user_id, email, email_key, created_at)
       select gen_random_uuid(), id, 'alice@mail.example', 'alice@mail.example', created_at from users`,
    );
    const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
    await browser.get('/login');
    expect(browser.page.text).toContain('Forgot your password?');
    await browser.get('/recover');
    await browser.submit({ email: 'alice@mail.example' });
    const [mail] = await mails.deliver(service.core);
    const [link = '', ticket = ''] =
      /https:\/\/auth\.example\.org\/account\/password\/recovery\?ticket=(\w+)/.exec(mail?.text ?? '') ?? [];
    expect((await browser.get(link)).status).toBe(200);
    expect((await queryTicket(browser, ticket)).body).toContain('"status":"VALID"');
  });
});

describe('guide "Connect a web app"', () => {
  const PATH = 'docs/guides/web-app.md';
  let app: WebApp;

  async function start(): Promise<void> {
    const port = String(await freePort());
    await serve(settingsWith(PATH, (json) => json.replaceAll('localhost:3000', `localhost:${port}`)));
    app = new WebApp(`http://localhost:${port}`);
    const program = guide(PATH, { 'localhost:3000': `localhost:${port}`, 'listen(3000)': `listen(${port})` });
    await program.start('app.mjs').listens(app.base);
  }

  async function signIn(): Promise<Browser> {
    const toService = await app.request('GET', '/login');
    const { location, browser } = await signInAt(service, toService.location);
    expect((await app.request('GET', location)).location).toBe('/');
    return browser;
  }

  test('signs a user in, refreshes, and signs them out of both', async () => {
    await start();
    expect((await app.request('GET', '/')).body).toContain('Sign in');
    const browser = await signIn();
    expect((await app.request('GET', '/')).body).toContain('Hello alice');
    const cookie = app.cookie;

    clock.advanceSeconds(6 * MINUTES);
    expect((await app.request('GET', '/')).body).toContain('Hello alice');
    const tokenRequests = service.requestLines().filter(({ path }) => path === '/oauth2/token');
    expect(tokenRequests.map(({ status }) => status)).toEqual([200, 200]);

    const { location } = await app.request('POST', '/logout');
    expect((await browser.open(location)).location).toBe(`${app.base}/`);
    expect((await app.request('GET', '/')).body).toContain('Sign in');
    app.cookie = cookie;
    expect((await app.request('GET', '/')).body).toContain('Sign in');
    await browser.open('/');
    expect(browser.page.text).not.toContain('alice');
  }, 30_000);

  test('reports a denied consent, and asks for a new sign-in when the session has ended', async () => {
    await start();
    const refused = await signInAt(service, (await app.request('GET', '/login')).location, 'cancel');
    expect(await app.request('GET', refused.location)).toMatchObject({
      status: 400,
      body: expect.stringContaining('Try again'),
    });

    await signIn();
    await endSessions();
    expect(await app.request('GET', '/')).toMatchObject({ status: 303, location: '/login' });
    expect((await app.request('GET', '/')).body).toContain('Sign in');
  }, 30_000);
});

describe.each([
  { path: 'docs/guides/native-app.md', program: 'app.mjs', approve: approveInBrowser },
  { path: 'docs/guides/command-line-tool.md', program: 'harbour.mjs', approve: approveDevice },
])('guide $path', ({ path, program, approve }) => {
  test('signs a user in, keeps them signed in, signs out, and starts over when the session has ended', async () => {
    await serve(settingsOf(readPage(path)));
    const programs = guide(path);
    const first = programs.start(program);
    await approve(first);
    expect(await first.output()).toContain('Hello alice');

    clock.advanceSeconds(6 * MINUTES);
    expect(await programs.start(program).output()).toBe('Hello alice\n');

    expect(await programs.start(program, ['logout']).output()).toBe('Signed out\n');
    const second = programs.start(program);
    await approve(second);
    expect(await second.output()).toContain('Hello alice');

    await endSessions();
    const third = programs.start(program);
    await approve(third);
    expect(await third.output()).toContain('Hello alice');
  }, 60_000);

  test('reports a denied consent', async () => {
    await serve(settingsOf(readPage(path)));
    const running = guide(path).start(program);
    await approve(running, 'cancel');
    expect(await running.output()).toMatch(/\nYou refused\. Run it again to be asked again\.\n$/);
  }, 60_000);
});

type TestResponse = 'consent' | 'cancel';

async function approveInBrowser(running: RunningProgram, response?: TestResponse): Promise<void> {
  const { location } = await signInAt(service, await running.printed(/Sign in at (\S+)\n/), response);
  await fetch(location);
}

async function approveDevice(running: RunningProgram, response: TestResponse = 'consent'): Promise<void> {
  const browser = new Browser({ listener: service.address });
  await browser.open(await running.printed(/or open (\S+)\n/));
  await browser.submit();
  await browser.follow();
  await browser.submit({ username: 'alice', password: PASSWORD });
  const { url } = await browser.follow();
  const confirmed = response === 'consent' ? { action: response, confirm_device: 'on' } : { action: 'reject' };
  await browser.submit(confirmed, { action: new URL(url).pathname });
}

/** Ends the sessions of all apps, like an administrator. */
async function endSessions(): Promise<void> {
  await sql(service.database, 'update oauth2_sessions set finished_at = now() where finished_at is null');
}

describe('guides "Connect a service" and "Connect a resource server"', () => {
  const SERVICE = 'docs/guides/service.md';
  const API = 'docs/guides/resource-server.md';
  /** Starts the service with both guides' configuration, and the API from its guide. */
  async function start(entries: Readonly<Record<string, unknown>>, change: 'as it is' | 'signed'): Promise<Guide> {
    const api = `localhost:${await freePort()}`;
    const { oauth, clients } = settingsWith(API, (json) => json.replaceAll('localhost:4000', api));
    await serve({ oauth, clients: [clients, entries['clients']].flat() });
    const addresses = { 'localhost:4000': api, 'listen(4000)': `listen(${api.split(':')[1] ?? ''})` };
    const programs = guide(API, addresses);
    if (change === 'signed') programs.save('api.mjs', programs.changedSource('api.mjs'));
    await programs.start('api.mjs').listens(`http://${api}/`);
    return guide(SERVICE, addresses);
  }

  /** Without line ends. */
  function lines(printed: string): readonly string[] {
    return printed.trimEnd().split('\n');
  }

  const RESPONSE = '{"events":[],"of":"01JD3Q5Z8W2N4K6M7P9R0S1T2V","by":"01JD3Q5Z8W2N4K6M7P9R0S1T2V"}';

  test('a service with a secret calls the API twice with one token, and revokes it', async () => {
    const programs = await start(settingsOf(readPage(SERVICE)), 'as it is');
    expect(lines(await programs.start('service.mjs').output())).toEqual([RESPONSE, RESPONSE]);
    const paths = service.requestLines().map(({ path }) => path);
    expect(paths.filter((path) => path === '/oauth2/token')).toHaveLength(1);
    expect(paths.filter((path) => path === '/oauth2/introspect')).toHaveLength(2);
    expect(paths.at(-1)).toBe('/oauth2/revoke');
  }, 30_000);

  test('an API accepts signed responses', async () => {
    const programs = await start(settingsOf(readPage(SERVICE)), 'signed');
    expect(lines(await programs.start('service.mjs').output())).toEqual([RESPONSE, RESPONSE]);
  }, 30_000);

  test('a service with its own key calls the API', async () => {
    const [key] =
      readPage(SERVICE)
        .blocks('yaml')[1]
        ?.match(/\{"kid".*\}/) ?? [];
    const entries = settingsOf(readPage(SERVICE), 1);
    const maker = new Guide(SERVICE);
    ends.push(() => maker.end());
    const made = await maker.start('make-key.mjs').output();
    const own: Readonly<Record<string, unknown>> = JSON.parse(JSON.stringify(entries).replace(key ?? '', made.trim()));
    expect(own).not.toEqual(entries);
    const programs = await start(own, 'as it is');
    programs.save('service.key', maker.saved('service.key'));
    programs.save('service.mjs', programs.changedSource('service.mjs'));
    expect(lines(await programs.start('service.mjs').output())).toEqual([RESPONSE, RESPONSE]);
  }, 30_000);

  test('the API refuses a missing token, a token for another audience, and one without the scope', async () => {
    const programs = await start(settingsOf(readPage(SERVICE)), 'as it is');
    const source = programs.source('service.mjs');
    programs.save('without-resource.mjs', source.replace(', resource: API', ''));
    programs.save('wrong-secret.mjs', source.replace('a-secret-of-at-least-16', 'another-secret-of-16'));
    programs.save('write.mjs', source.replace('{ headers: {', "{ method: 'POST', headers: {"));
    programs.save(
      'without-token.mjs',
      "console.log((await fetch('http://localhost:4000/')).headers.get('www-authenticate'));",
    );
    const outputs = ['without-resource', 'wrong-secret', 'write', 'without-token'].map((name) =>
      programs.start(`${name}.mjs`).output(),
    );
    expect(await Promise.all(outputs)).toEqual([
      '/: 401 Bearer error="invalid_token"\n',
      'server responded with a challenge in the WWW-Authenticate HTTP Header\n',
      '/: 403 Bearer error="insufficient_scope", scope="events.write"\n',
      'Bearer\n',
    ]);
  }, 30_000);
});

test('every guide has the sections that readers look for', () => {
  const guides = ['web-app', 'single-page-app', 'native-app', 'command-line-tool', 'service', 'resource-server'];
  for (const name of guides) {
    const { headings } = readPage(`docs/guides/${name}.md`);
    const parts = ['Register the client', 'What the user sees', 'Troubleshooting', 'Common mistakes'];
    expect(headings, name).toEqual(expect.arrayContaining(parts));
  }
});
