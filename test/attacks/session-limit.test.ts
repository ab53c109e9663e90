/** Attempts to bypass `experimental.session_limit` (chat-compat 10.5, oauth 8.2 row 11). */
import { describe, expect, test } from 'vitest';
import { DEVICE_CODE_GRANT_TYPE } from '#protocol/oauth/client-metadata.ts';
import type { Browser } from '../support/browser.ts';
import { attackedService, basic, C1, C2, CLIENT_SETTINGS, PASSWORD } from './attacked-service.ts';
import { HeldChange } from './held-change.ts';
import { jsonOf, type RawResponse, textMember } from './raw-http.ts';

const attacked = attackedService({
  clients: CLIENT_SETTINGS.map((client) =>
    client.client_id === C2.id ? { ...client, grant_types: ['authorization_code'] } : client,
  ),
  experimental: { session_limit: { soft_limit: 2, max_session_threshold: 4 } },
});

/** Creates a user with this many sessions at C1. */
async function newUser(username: string, sessions: number): Promise<Browser> {
  await attacked.service.registerUser(username, PASSWORD);
  const browser = await attacked.signedIn(username);
  for (let count = 0; count < sessions; count += 1) await attacked.tokens(browser, C1);
  return browser;
}

async function openSessions(username: string): Promise<number> {
  return await attacked.count(
    'oauth2_sessions s join users u on u.id = s.user_id where u.username = $1 and s.finished_at is null',
    [username],
  );
}

function outcome(response: RawResponse): unknown {
  return response.status === 200 ? 200 : [response.status, jsonOf(response)['error']];
}

const device = (id: string) => `openid urn:chat:client:api:* urn:chat:client:device:${id}`;

describe('a user at the session limit', () => {
  test('sees how many sessions must end, and continues once they have', async () => {
    const browser = await newUser('anna', 1);
    const { accessToken } = await attacked.tokens(browser, C1);
    await browser.open(attacked.authorizeUrl(C1));
    expect(browser.page).toMatchObject({ status: 403, errorCodes: ['too-many-sessions'] });
    expect(browser.page.text).toContain('Sign out of an app or device that you no longer use');
    expect(browser.page.body).toContain('href="/account/sessions"');
    expect(attacked.service.requestLines().at(-1)?.queries).toBe(1);
    expect(attacked.service.logLines().filter((line) => line.includes('the user has too many sessions'))).toHaveLength(
      1,
    );
    const retry = / href="(\/authorize\/\w+)"/.exec(browser.page.body)?.[1] ?? expect.fail('no way on');
    await attacked.post('/oauth2/revoke', { token: accessToken }, basic(C1));
    await browser.open(retry);
    expect(new URL(browser.page.location ?? browser.page.url).searchParams.get('code')).not.toBeNull();
  });

  test('cannot continue on an earlier consent page', async () => {
    const browser = await newUser('berta', 1);
    await browser.open(attacked.authorizeUrl(C1, { prompt: 'consent' }));
    await attacked.tokens(await attacked.signedIn('berta'), C1);
    await browser.submit({ action: 'consent' }, { action: '/authorize' });
    expect(browser.page).toMatchObject({ status: 403, errorCodes: ['too-many-sessions'] });
  });

  test('gets access_denied for a silent request', async () => {
    const browser = await newUser('carla', 2);
    await browser.get(attacked.authorizeUrl(C1, { prompt: 'none' }));
    expect(new URL(browser.page.location ?? '').searchParams.get('error')).toBe('access_denied');
  });

  test('may sign in again on a device that has a session', async () => {
    const browser = await newUser('doris', 1);
    await attacked.tokens(browser, C1, { scope: device('FIRSTDEVICE') });
    await attacked.tokens(browser, C1, { scope: device('FIRSTDEVICE') });
    expect(await openSessions('doris')).toBe(2);
    await browser.open(attacked.authorizeUrl(C1, { scope: device('OTHERDEVICE') }));
    expect(browser.page.errorCodes).toEqual(['too-many-sessions']);
  });

  test('cannot approve a device, and an already approved device gets access_denied', async () => {
    const browser = await newUser('edith', 1);
    const codes = jsonOf(await attacked.post('/oauth2/device', { scope: 'openid' }, basic(C1)));
    const deviceCode = String(codes['device_code']);
    attacked.secrets.add(deviceCode);
    await browser.get('/link');
    await browser.submit({ code: String(codes['user_code']) });
    await browser.follow();
    const action = new URL(browser.page.url).pathname;
    const { accessToken } = await attacked.tokens(await attacked.signedIn('edith'), C1);
    await browser.submit({ action: 'consent', confirm_device: 'on' }, { action });
    expect(browser.page).toMatchObject({ status: 403, errorCodes: ['too-many-sessions'] });
    await attacked.post('/oauth2/revoke', { token: accessToken }, basic(C1));
    await browser.get(action);
    await browser.submit({ action: 'consent', confirm_device: 'on' }, { action });
    expect(browser.page.status).toBe(303);

    const other = await attacked.tokens(await attacked.signedIn('edith'), C1);
    const poll = async () =>
      outcome(
        await attacked.post(
          '/oauth2/token',
          { grant_type: DEVICE_CODE_GRANT_TYPE, device_code: deviceCode },
          basic(C1),
        ),
      );
    expect(await poll()).toEqual([400, 'access_denied']);
    await attacked.post('/oauth2/revoke', { token: other.accessToken }, basic(C1));
    expect(await poll()).toBe(200);
  });

  test('is not limited with more sessions than the threshold', async () => {
    const browser = await newUser('frida', 2);
    await attacked.change(
      `insert into oauth2_sessions (id, user_id, client_id, scope, refresh_family, created_at)
       select gen_random_uuid(), s.user_id, s.client_id, s.scope, sha256(n::text::bytea), s.created_at
         from (select s.* from oauth2_sessions s join users u on u.id = s.user_id where u.username = 'frida' limit 1) s,
              generate_series(1, 3) n`,
    );
    expect(await openSessions('frida')).toBe(5);
    await attacked.tokens(browser, C1);
    expect(await openSessions('frida')).toBe(6);
  });
});

describe('codes issued before the limit is reached', () => {
  test('are refused at exchange without being used up', async () => {
    const browser = await newUser('greta', 1);
    const code = await attacked.code(browser, C1);
    const { accessToken } = await attacked.tokens(browser, C1);
    expect(outcome(await attacked.exchange(C1, code))).toEqual([400, 'invalid_grant']);
    await attacked.post('/oauth2/revoke', { token: accessToken }, basic(C1));
    expect(outcome(await attacked.exchange(C1, code))).toBe(200);
  });

  test('see the session that another instance opens at the same moment', async () => {
    const code = await attacked.code(await newUser('hilde', 1), C1);
    const opening = await HeldChange.make(
      attacked.service.connectionString,
      `with held as (select id from users where username = $1 for no key update)
       insert into oauth2_sessions (id, user_id, client_id, scope, refresh_family, created_at)
       select gen_random_uuid(), s.user_id, s.client_id, s.scope, sha256('another'), s.created_at
         from oauth2_sessions s join held on held.id = s.user_id`,
      ['hilde'],
    );
    expect(outcome(await opening.commitDuring(attacked.exchange(C1, code)))).toEqual([400, 'invalid_grant']);
    expect(await openSessions('hilde')).toBe(2);
  });

  test('that are exchanged concurrently on two instances never exceed the limit', async () => {
    const browser = await newUser('helga', 0);
    const codes: string[] = [];
    for (let count = 0; count < 8; count += 1) codes.push(await attacked.code(browser, C1));
    await attacked.withSecondInstance(async (second) => {
      const responses = await Promise.all(
        codes.map(async (code, index) => await attacked.exchange(C1, code, {}, index % 2 === 0 ? second : undefined)),
      );
      for (const response of responses)
        if (response.status === 200) attacked.secrets.add(textMember(response, 'access_token'));
      expect(responses.filter(({ status }) => status === 200)).toHaveLength(2);
      expect(new Set(responses.filter(({ status }) => status !== 200).map((one) => String(outcome(one))))).toEqual(
        new Set(['400,invalid_grant']),
      );
    });
    expect(await openSessions('helga')).toBe(2);
  });
});

test('a session without refresh tokens counts only while its access token is valid', async () => {
  const browser = await newUser('irene', 1);
  const response = await attacked.exchange(C2, await attacked.code(browser, C2));
  attacked.secrets.add(textMember(response, 'access_token'));
  await browser.open(attacked.authorizeUrl(C2));
  expect(browser.page.errorCodes).toEqual(['too-many-sessions']);
  attacked.clock.advanceSeconds(301);
  await browser.open(attacked.authorizeUrl(C2));
  expect(new URL(browser.page.location ?? browser.page.url).searchParams.get('code')).not.toBeNull();
});
