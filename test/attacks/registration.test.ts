/** Attacks on self-registration. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { sql } from '../support/fixtures.ts';
import { beginRegistration, registerCompletely, registerUpToFinish } from '../support/registering.ts';
import { until } from '../support/route-server.ts';
import { startService, type TestService } from '../support/service.ts';
import { bundleWorker } from '../support/worker-entry.ts';
import { ISSUER, PASSWORD, SETTINGS } from './attacked-service.ts';

let strengthWorker: URL;
let service: TestService;
let addresses = 0;

beforeAll(async () => {
  strengthWorker = await bundleWorker(
    new URL('../../src/domain/accounts/passwords/strength.worker.ts', import.meta.url),
  );
  service = await startService(
    { ...SETTINGS, policy: { data: { admin_users: ['adele', 'Berta', 'ｃｌａｒａ'] } } },
    { strengthWorker, expectedErrors: ['" 503 '] },
  );
});

afterAll(async () => {
  await service.stop();
});

function browserAt(at: TestService, address?: string): Browser {
  addresses += 1;
  const headers = { 'x-forwarded-for': address ?? `198.19.0.${addresses}` };
  return new Browser({ listener: at.address, publicBase: ISSUER, headers });
}

async function usernames(): Promise<string[]> {
  const rows = await sql<{ username: string }>(service.database, 'select username from users order by username');
  return rows.map((row) => row.username);
}

describe('sixteen passwords from one address that take seconds to estimate (S-183)', () => {
  test('do not keep another address from registering', async () => {
    // Substitutions at every position: the worst case for the estimator within the characters that it considers.
    const password = 'mp@$$w0rd1'.repeat(9);
    const attackers = Array.from({ length: 16 }, (_, index) => {
      const browser = browserAt(service, '198.19.9.9');
      return beginRegistration(browser, { username: `slow-${index}`, password });
    });
    let areAllDecided = false;
    const all = Promise.all(attackers).then((responses) => {
      areAllDecided = true;
      return responses.filter((response) => response.status === 503).length;
    });
    const arrived = () => service.logLines().filter((line) => line.includes('198.19.9.9')).length;
    // The 16 pages were served, and twelve forms were rejected because the queue was full.
    await until(() => arrived() >= 16 + 12);
    const response = await beginRegistration(browserAt(service), { username: 'honest' });
    expect(response.status).toBe(303);
    expect(areAllDecided).toBe(false);
    expect(await all).toBe(12);
    expect(service.logLines().join()).toMatch(/auth\.refused .*too many password estimates from one address/);
  });
});

test.each(['01m8fnp7n8wtbq5ypd2n1p034g', '0190a5f1-7d5e-7c11-8f3a-2b5d6c7e8f90'])(
  'a name that looks like an identifier cannot be registered: %s',
  async (username) => {
    const response = await beginRegistration(browserAt(service), { username });
    expect(response.errorCodes).toEqual(['username-identifier']);
    expect(await usernames()).toEqual([]);
  },
);

describe('names in policy.data.admin_users without an account (S-177)', () => {
  test.each(['adele', 'Adele', 'berta', 'Berta', 'clara'])('cannot be registered: %s', async (username) => {
    const response = await beginRegistration(browserAt(service), { username });
    expect(response.status).toBe(200);
    expect(response.errorCodes).toContain('username-reserved');
    expect(await usernames()).toEqual([]);
  });

  test('cannot be chosen when changing the name, or completed when listed later', async () => {
    const open = await startService(SETTINGS, { strengthWorker, like: service });
    try {
      const browser = browserAt(open);
      const finish = await registerUpToFinish(browser, 'berta');
      // The same browser at the instance that reserves the name.
      const moved = browserAt(service);
      for (const [name, value] of browser.cookies) moved.cookies.set(name, value);
      const lost = await moved.open(finish);
      expect(new URL(lost.url).pathname).toMatch(/\/username$/);
      expect(lost.errorCodes).toEqual(['username-reserved']);
      expect((await moved.submit({ username: 'adele' })).errorCodes).toEqual(['username-reserved']);
      expect((await moved.submit({ username: 'someone' })).status).toBe(303);
      await moved.follow();
      expect(await usernames()).toEqual(['someone']);
    } finally {
      await open.stop();
    }
  });

  test('can be created by an operator, and not registered afterwards', async () => {
    await service.registerUser('adele', PASSWORD);
    const response = await beginRegistration(browserAt(service), { username: 'adele' });
    expect(response.errorCodes).toEqual(['username-reserved']);
  });

  test('do not affect other names', async () => {
    expect((await registerCompletely(browserAt(service), 'adele.')).status).toBe(303);
  });
});
