/** Security 4.11: one-time operations that are requested many times concurrently. */
import { describe, expect, test } from 'vitest';
import type { TestService } from '../support/service.ts';
import { attackedService, C1, C3, PASSWORD } from './attacked-service.ts';

const attacked = attackedService({
  // Slow enough for something to happen during a password check.
  passwords: { schemes: [{ version: 1, algorithm: 'argon2id', memory_kib: 65_536, iterations: 3 }] },
});
const DEVICE = 'urn:chat:client:api:* urn:chat:client:device:ABCDEFGHIJ';

describe('deciding one request 40 times at once over two instances (S-100)', () => {
  test.each(['consent', 'cancel', 'both'])('%s: the client gets one answer', async (kind) => {
    const browser = await attacked.signedIn('amira');
    await browser.open(attacked.authorizeUrl(C3, { prompt: 'consent', state: kind }));
    const form = browser.page.forms.find(({ action }) => action === '/authorize') ?? expect.fail('no form');
    await attacked.withSecondInstance(async (second: TestService) => {
      const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const responses = await Promise.all(
        Array.from({ length: 40 }, async (_, index) => {
          const action = kind === 'both' ? ['consent', 'cancel'][(index >> 1) % 2] : kind;
          const fields = new URLSearchParams([...form.inputs, ['action', action ?? '']]);
          const at = index % 2 === 0 ? second : attacked.service;
          return await attacked.browser({ at }).post('/authorize', fields, { cookie });
        }),
      );
      const sent = responses.filter(({ location }) => location?.startsWith(C3.callback));
      expect(sent).toHaveLength(1);
      for (const response of responses) {
        if (sent.includes(response)) continue;
        // The losers see a page about it, directly or after a redirect.
        expect([303, 409]).toContain(response.status);
        expect(response.location ?? '').not.toContain('code=');
      }
      const code = new URL(sent[0]?.location ?? '').searchParams.get('code');
      if (code !== null) expect((await attacked.exchange(C3, code)).status).toBe(200);
    });
  });
});

describe('a lock that commits during a request (S-102)', () => {
  async function lock(username: string): Promise<void> {
    await attacked.change('update users set locked_at = created_at where username = $1::text', [username]);
  }

  async function unlock(username: string): Promise<void> {
    await attacked.change('update users set locked_at = null where username = $1::text', [username]);
  }

  test('for a sign-in whose password is being checked: opens no session', async () => {
    const browser = attacked.browser();
    await browser.get('/login');
    const charged = await attacked.count('rate_limits');
    const signingIn = browser.submit({ username: 'bruno', password: PASSWORD });
    // The rate limit is charged before the hash, so the hash is running from here on.
    await expect.poll(async () => await attacked.count('rate_limits'), { interval: 5 }).toBeGreaterThan(charged);
    await lock('bruno');
    try {
      const page = await signingIn;
      expect(page).toMatchObject({ status: 200, location: undefined });
      expect(page.text).toContain('Account locked');
      expect(browser.cookies.has('__Host-latchkey_session')).toBe(false);
      expect(await sessionsOf('bruno')).toBe(0);
    } finally {
      await unlock('bruno');
    }
  });

  test('for an exchange or a refresh: leaves no valid token', async () => {
    const browser = await attacked.signedIn('amira');
    for (let round = 0; round < 5; round += 1) {
      const { refreshToken } = await attacked.tokens(browser, C1);
      const code = await attacked.code(browser, C1);
      const [exchanged, refreshed] = await Promise.all([
        attacked.exchange(C1, code),
        attacked.refresh(C1, refreshToken),
        lock('amira'),
      ]);
      try {
        for (const response of [exchanged, refreshed]) {
          if (response.status !== 200) continue;
          const issued = attacked.held('', response);
          expect(await attacked.introspect(issued.accessToken)).toEqual({ active: false });
          expect((await attacked.refresh(C1, issued.refreshToken)).status).toBe(400);
        }
        expect((await attacked.exchange(C1, code)).status).toBe(400);
        expect((await browser.get(attacked.authorizeUrl(C1))).location).not.toContain(C1.callback);
      } finally {
        await unlock('amira');
      }
    }
  });

  async function sessionsOf(username: string): Promise<number> {
    return await attacked.count(
      'user_sessions where finished_at is null and user_id = (select id from users where username = $1::text)',
      [username],
    );
  }
});

describe('a device used by two sessions (S-103)', () => {
  test('of the same user: the older session ends; of another user: it stays unchanged', async () => {
    const amira = await attacked.signedIn('amira');
    const first = await attacked.tokens(amira, C1, { scope: `openid ${DEVICE}` });
    const stranger = await attacked.tokens(await attacked.signedIn('bruno'), C1, { scope: `openid ${DEVICE}` });
    expect(await attacked.introspect(first.accessToken)).toMatchObject({ active: true });
    const second = await attacked.tokens(amira, C3, { scope: `openid ${DEVICE}` });
    expect(await attacked.introspect(first.accessToken)).toEqual({ active: false });
    expect((await attacked.refresh(C1, first.refreshToken)).status).toBe(400);
    expect(await attacked.introspect(second.accessToken)).toMatchObject({ active: true });
    expect(await attacked.introspect(stranger.accessToken)).toMatchObject({ active: true, username: 'bruno' });
  });

  test('signing in thirty times at once with one device leaves one session alive', async () => {
    const amira = await attacked.signedIn('amira');
    const codes = [];
    for (let count = 0; count < 30; count += 1)
      codes.push(await attacked.code(amira, C1, { scope: `openid ${DEVICE}` }));
    const responses = await Promise.all(codes.map(async (code) => await attacked.exchange(C1, code)));
    const issued = responses.filter(({ status }) => status === 200).map((response) => attacked.held('', response));
    expect(issued).toHaveLength(30);
    const active = await Promise.all(issued.map(async ({ accessToken }) => await attacked.introspect(accessToken)));
    expect(active.filter((response) => response['active'] === true)).toHaveLength(1);
  });
});
