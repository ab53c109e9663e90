import { afterEach, expect, test } from 'vitest';
import { ChatClient } from '../support/chat-client.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { freePort } from '../support/free-port.js';
import { startService, type TestService } from '../support/service.ts';
import { Guide, PASSWORD, settingsOf, signInAt } from './guide.ts';
import { readPage } from './pages.ts';

const PATH = 'docs/guides/account-page.md';
const ends: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** The guide's app, as its user's browser sees it. */
class AccountApp {
  readonly base: string;
  #cookie = '';

  constructor(base: string) {
    this.base = base;
  }

  async request(address: string, form?: Readonly<Record<string, string>>) {
    const response = await fetch(new URL(address, this.base), {
      redirect: 'manual',
      headers: { cookie: this.#cookie },
      ...(form !== undefined && { method: 'POST', body: new URLSearchParams(form) }),
    });
    this.#cookie = response.headers.get('set-cookie')?.split(';')[0] ?? this.#cookie;
    return {
      status: response.status,
      location: response.headers.get('location') ?? '',
      body: await response.text(),
    };
  }

  /** Returns the form that ends the session with this name. */
  async formOf(name: string): Promise<Readonly<Record<string, string>>> {
    const { body } = await this.request('/');
    const entry = body.split('<li>').find((text) => text.includes(name)) ?? expect.fail(`${name} is not in ${body}`);
    return Object.fromEntries(
      [...entry.matchAll(/name="(\w+)" value="([^"]+)"/g)].map(([, key, value]) => [key, value]),
    );
  }
}

async function start(clock: FakeClock): Promise<{ readonly app: AccountApp; readonly service: TestService }> {
  const port = String(await freePort());
  const there = JSON.stringify(settingsOf(readPage(PATH))).replaceAll('localhost:3000', `localhost:${port}`);
  const settings: Readonly<Record<string, unknown>> = JSON.parse(there);
  const service = await startService(settings, { clock });
  ends.push(() => service.stop());
  await service.registerUser('alice', PASSWORD);
  const guide = new Guide(PATH, {
    'http://localhost:8080': service.address,
    'localhost:3000': `localhost:${port}`,
    'listen(3000)': `listen(${port})`,
  });
  ends.push(() => guide.end());
  const app = new AccountApp(`http://localhost:${port}`);
  await guide.start('account.mjs', [], 'as they are').listens(app.base);
  return { app, service };
}

test('guide "Build your own account page" lists sessions, ends them, refreshes and starts over', async () => {
  const clock = new FakeClock(Date.now());
  const { app, service } = await start(clock);
  await new ChatClient(service).login('alice', PASSWORD, { device_id: 'HERPHONE' });
  clock.advanceSeconds(1);
  const { location } = await signInAt(service, (await app.request('/login')).location);
  expect((await app.request(location)).location).toBe('/');
  const first = await app.request('/');
  expect(first.body).toMatch(/^Sessions of alice<ul><li>.*My sessions \(this page\).*<li>.*HERPHONE/);
  expect(service.logLines().findLast((line) => line.includes('/graphql'))).toContain(
    'graphql.operation.name=MySessions',
  );

  const phone = await app.formOf('HERPHONE');
  expect(await app.request('/end', phone)).toMatchObject({ status: 303, location: '/' });
  expect((await app.request('/')).body).not.toContain('HERPHONE');
  const nobodys = { ...phone, id: (phone['id'] ?? '').replace(/:.*/, ':01JD3Q5Z8W2N4K6M7P9R0S1T00') };
  expect((await app.request('/end', nobodys)).status).toBe(404);

  clock.advanceSeconds(360);
  expect((await app.request('/')).body).toContain('My sessions (this page)');
  expect(await app.request('/end', await app.formOf('this page'))).toMatchObject({ status: 303, location: '/' });
  expect(await app.request('/')).toMatchObject({ status: 303, location: '/login' });
});
