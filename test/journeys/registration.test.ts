import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { NEW_PASSWORD } from '../support/registering.ts';
import { startService, type TestService } from '../support/service.ts';
import { bundleWorker } from '../support/worker-entry.ts';

const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const CALLBACK = 'https://app.example/callback';
const PASSWORD = 'correct horse battery staple';
const CLIENT = {
  client_id: CLIENT_ID,
  client_auth_method: 'client_secret_basic',
  client_secret: 'a-secret-of-at-least-16-characters',
  client_name: 'Harbour',
  redirect_uris: [CALLBACK],
  first_party: true,
};
const HIGH_LIMIT = { burst: 1000, per_second: 100 };
const RATES = { login: { per_ip: HIGH_LIMIT }, registration: HIGH_LIMIT, registration_check: HIGH_LIMIT };

let worker: URL;
beforeAll(async () => {
  worker = await bundleWorker(new URL('../../src/domain/accounts/passwords/strength.worker.ts', import.meta.url));
});

function authorizePath(fields: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams({
    client_id: CLIENT_ID,
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: 'openid',
    state: 'st',
    ...fields,
  });
  return `/authorize?${query}`;
}

/** Submits the two forms of a registration. Does not follow the redirect to the original target. */
async function register(browser: Browser, username: string): Promise<void> {
  await browser.submit({ username, password: NEW_PASSWORD });
  await browser.follow();
  await browser.submit({ display_name: 'New Person' });
  await browser.get(browser.page.location ?? '');
}

describe('an application that requests a new account (prompt=create)', () => {
  const clock = new FakeClock();
  let service: TestService;

  beforeAll(async () => {
    const settings = {
      clients: [CLIENT],
      account: { password_registration_enabled: true },
      rate_limiting: RATES,
    };
    service = await startService(settings, { strengthWorker: worker, clock });
    await service.registerUser('amira', PASSWORD);
    clock.advanceSeconds(60);
  });
  afterAll(async () => {
    await service.stop();
  });

  const newBrowser = () => new Browser({ listener: service.address, publicBase: service.publicBase });
  const lastLine = () => service.requestLines().at(-1);

  async function signedIn(): Promise<Browser> {
    const browser = newBrowser();
    await browser.get('/login');
    await browser.submit({ username: 'amira', password: PASSWORD });
    clock.advanceSeconds(60);
    return browser;
  }

  test('discovers that it can', async () => {
    const { body } = await newBrowser().get('/.well-known/openid-configuration');
    expect(JSON.parse(body)).toMatchObject({
      prompt_values_supported: ['none', 'login', 'consent', 'select_account', 'create'],
    });
  });

  test('sends a user through registration and gets its code; the log names the new user', async () => {
    const browser = newBrowser();
    await browser.open(authorizePath({ prompt: 'create', login_hint: 'mxid:@dana:localhost' }));
    expect(new URL(browser.page.url).pathname).toBe('/register/password');
    expect(browser.page.text).toContain('to continue to Harbour');
    expect(browser.page.headers['content-security-policy']).toContain("form-action 'self' https:;");
    expect(browser.page.forms[0]?.inputs.get('username')).toBe('dana');
    clock.advanceSeconds(60);
    await register(browser, 'dana');
    expect(new URL(browser.page.location ?? '').pathname).toMatch(/^\/authorize\/[0-9A-Z]{26}$/);
    expect(lastLine()).toMatchObject({ method: 'GET', status: 303 });
    expect(lastLine()?.path).toMatch(/^\/register\/steps\/[0-9A-Z]{26}\/finish$/);
    expect(lastLine()?.requester).toMatch(/^user:[0-9A-Z]{26}\(dana\)$/);
    await browser.follow();
    expect(browser.page.location).toMatch(/^https:\/\/app\.example\/callback\?code=[\w-]{43}&/);
    expect(lastLine()?.requester).toMatch(/\(dana\)$/);
  });

  test('may get an existing account if the user prefers to sign in', async () => {
    const browser = newBrowser();
    await browser.open(authorizePath({ prompt: 'create' }));
    const link = /href="(\/login\?[^"]*)"/.exec(browser.page.body)?.[1]?.replaceAll('&amp;', '&') ?? '';
    await browser.get(link);
    clock.advanceSeconds(1);
    await browser.submit({ username: 'amira', password: PASSWORD });
    await browser.follow();
    expect(browser.page.location).toMatch(/^https:\/\/app\.example\/callback\?code=/);
    expect(lastLine()?.requester).toMatch(/\(amira\)$/);
  });

  test('shows the registration to a signed-in user, whose new account replaces the old one', async () => {
    const browser = await signedIn();
    await browser.open(authorizePath({ prompt: 'create' }));
    expect(new URL(browser.page.url).pathname).toBe('/register/password');
    expect(browser.page.status).toBe(200);
    expect(lastLine()?.requester).toMatch(/\(amira\)$/);
    const registration = browser.page.url;
    clock.advanceSeconds(60);
    await register(browser, 'second-account');
    await browser.follow();
    expect(browser.page.location).toMatch(/^https:\/\/app\.example\/callback\?code=/);
    expect(lastLine()?.requester).toMatch(/\(second-account\)$/);
    // The request has already led to a registration, so it does not start another.
    await browser.get(registration);
    expect(new URL(browser.page.location ?? '').pathname).toMatch(/^\/authorize\//);
  });

  test('asks a signed-in user only once', async () => {
    const browser = await signedIn();
    await browser.get(authorizePath({ prompt: 'create' }));
    const grant = new URL(browser.page.location ?? '').searchParams.get('id') ?? '';
    await browser.get(`/authorize/${grant}`);
    expect(browser.page.location).toMatch(/^https:\/\/app\.example\/callback\?code=/);
    expect(lastLine()?.requester).toMatch(/\(amira\)$/);
  });

  test("cannot use registration to bypass other users' sessions: another prompt skips it", async () => {
    const browser = await signedIn();
    await browser.get(authorizePath({ prompt: 'consent' }));
    const id = new URL(browser.page.location ?? '').pathname.split('/').at(-1) ?? '';
    const response = await browser.get(`/register/password?kind=continue_authorization_grant&id=${id}`);
    expect(response).toMatchObject({ status: 303, location: `${service.publicBase}authorize/${id}` });
  });

  test('cannot request it silently', async () => {
    const browser = newBrowser();
    await browser.get(authorizePath({ prompt: 'none create' }));
    expect(new URL(browser.page.location ?? '').searchParams.get('error')).toBe('invalid_request');
  });
});

describe('a service with registration closed, which is the default', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await startService({ clients: [CLIENT] });
  });
  afterAll(async () => {
    await service.stop();
  });

  test('neither offers it nor accepts it', async () => {
    const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
    const { body } = await browser.get('/.well-known/openid-configuration');
    expect(JSON.parse(body)).toMatchObject({
      prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
    });
    await browser.open(authorizePath({ prompt: 'create' }));
    expect(new URL(browser.page.url).pathname).toBe('/login');
    expect(browser.page.body).not.toContain('/register');
    expect((await browser.get('/register')).text).toContain('Registration is closed');
    expect((await browser.post('/register/password', new URLSearchParams())).status).toBe(405);
  });
});

describe('a service without passwords', () => {
  test('has registration closed, whatever the other setting says', async () => {
    const service = await startService({
      passwords: { enabled: false },
      account: { password_registration_enabled: true },
    });
    try {
      const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
      expect((await browser.get('/register')).text).toContain('Registration is closed');
      expect((await browser.get('/')).body).not.toContain('/register');
    } finally {
      await service.stop();
    }
  });
});
