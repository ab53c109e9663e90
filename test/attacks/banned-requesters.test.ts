/** `policy.data.requester` blocks requesters that the operator has banned (oauth 14.3). */
import { describe, expect, test } from 'vitest';
import { DEVICE_CODE_GRANT_TYPE } from '#protocol/oauth/client-metadata.ts';
import type { Browser, Page } from '../support/browser.ts';
import { attackedService, basic, C1, CLIENT_SETTINGS, SETTINGS } from './attacked-service.ts';
import { jsonOf, type RawResponse, textMember } from './raw-http.ts';

const BANNED = '203.0.113.66';
const PROGRAM = 'Mozilla/5.0 (compatible; BadBot/2.0)';
const HERE = { 'x-forwarded-for': BANNED };

const GRANT_TYPES = ['authorization_code', 'client_credentials', DEVICE_CODE_GRANT_TYPE];
const attacked = attackedService({
  clients: CLIENT_SETTINGS.map((client) =>
    client.client_id === C1.id ? { ...client, grant_types: GRANT_TYPES, logo_uri: 'https://app.example/logo' } : client,
  ),
  policy: {
    data: {
      ...SETTINGS.policy.data,
      requester: { banned_ips: ['203.0.113.64/26'], banned_user_agents: { substrings: ['badbot'] } },
    },
  },
});

/** Returns the code and the setting of each refusal during `work`. */
async function refusalsOf(work: () => Promise<unknown>): Promise<(readonly [string, string])[]> {
  const before = attacked.service.logLines().length;
  await work();
  const lines = attacked.service.logLines().slice(before);
  return lines
    .filter((line) => line.includes(' auth.refused '))
    .map((line) => [/code=(\w+)/.exec(line)?.[1] ?? '', /setting=(\w+)/.exec(line)?.[1] ?? ''] as const);
}

async function post(path: string, form: Readonly<Record<string, string>>, from: Origin): Promise<RawResponse> {
  return await attacked.ask({
    method: 'POST',
    target: path,
    headers: [
      ['Content-Type', 'application/x-www-form-urlencoded'],
      ['X-Forwarded-For', from.address ?? attacked.newAddress()],
      ['User-Agent', from.program ?? 'client/1.0'],
      ['Authorization', basic(C1) ?? ''],
    ],
    body: new URLSearchParams(form).toString(),
  });
}

interface Origin {
  readonly address?: string;
  readonly program?: string;
}

const BY_ADDRESS: Origin = { address: BANNED };
const BY_PROGRAM: Origin = { program: PROGRAM };

async function grants(condition: string): Promise<number> {
  return await attacked.count(`oauth2_authorization_grants where ${condition}`);
}

async function open(browser: Browser, address: string, headers: Readonly<Record<string, string>>): Promise<Page> {
  await browser.get(address, headers);
  const { location } = browser.page;
  return location === undefined || !location.startsWith('https://auth.')
    ? browser.page
    : await browser.get(location, headers);
}

describe('a banned requester', () => {
  test('sees a 403 page with the reason, and can cancel', async () => {
    const browser = await attacked.signedIn('amira');
    const refusals = await refusalsOf(async () => {
      await browser.get(attacked.authorizeUrl(C1), HERE);
      await browser.get(browser.page.location ?? '', HERE);
    });
    expect(browser.page).toMatchObject({ status: 403, errorCodes: ['requester-banned'] });
    expect(browser.page.text).toContain('from this network or browser');
    expect(browser.page.body).not.toContain('value="consent"');
    expect(refusals).toEqual([['access_denied', 'banned_ips']]);
    await browser.submit({ action: 'cancel' }, { action: '/authorize', headers: HERE });
    expect(new URL(browser.page.location ?? '').searchParams.get('error')).toBe('access_denied');
  });

  test('cannot decide on a consent page opened from another address', async () => {
    const browser = await attacked.signedIn('amira');
    await browser.open(attacked.authorizeUrl(C1, { prompt: 'consent' }));
    const refusals = await refusalsOf(async () =>
      browser.submit({ action: 'consent' }, { action: '/authorize', headers: { 'user-agent': PROGRAM } }),
    );
    expect(browser.page).toMatchObject({ status: 403, errorCodes: ['requester-banned'] });
    expect(refusals).toEqual([['access_denied', 'banned_user_agents']]);
    expect(await grants('fulfilled_at is not null')).toBe(0);
  });

  test('gets access_denied for a silent request, even with an earlier consent', async () => {
    const browser = await attacked.signedIn('bruno');
    await attacked.code(browser, C1);
    const refusals = await refusalsOf(async () => browser.get(attacked.authorizeUrl(C1, { prompt: 'none' }), HERE));
    const response = new URL(browser.page.location ?? '').searchParams;
    expect(response.get('error')).toBe('access_denied');
    expect(response.get('error_description')).not.toContain('banned_ips');
    expect(refusals).toEqual([['access_denied', 'banned_ips']]);
  });

  test('is not let through by an earlier consent', async () => {
    const browser = await attacked.signedIn('bruno');
    await attacked.code(browser, C1);
    await open(browser, attacked.authorizeUrl(C1), HERE);
    expect(browser.page).toMatchObject({ status: 403, errorCodes: ['requester-banned'] });
  });

  test('cannot exchange a code, which other addresses still can', async () => {
    const browser = await attacked.signedIn('amira');
    const code = await attacked.code(browser, C1);
    const form = { grant_type: 'authorization_code', code, redirect_uri: C1.callback };
    const refusals = await refusalsOf(async () => {
      for (const from of [BY_ADDRESS, BY_PROGRAM]) {
        const response = await post('/oauth2/token', form, from);
        expect([response.status, jsonOf(response)['error']]).toEqual([400, 'invalid_grant']);
      }
    });
    expect(refusals).toEqual([
      ['requester_banned', 'banned_ips'],
      ['requester_banned', 'banned_user_agents'],
    ]);
    expect((await post('/oauth2/token', form, {})).status).toBe(200);
  });

  test('gets no client credentials token', async () => {
    const refusals = await refusalsOf(async () => {
      const response = await post('/oauth2/token', { grant_type: 'client_credentials' }, BY_PROGRAM);
      expect([response.status, jsonOf(response)['error']]).toEqual([400, 'invalid_scope']);
    });
    expect(refusals).toEqual([['requester_banned', 'banned_user_agents']]);
    expect((await post('/oauth2/token', { grant_type: 'client_credentials' }, {})).status).toBe(200);
  });

  test('can deny a device but not approve it; a banned device gets access_denied', async () => {
    const codes = await post('/oauth2/device', { scope: 'openid' }, {});
    const deviceCode = textMember(codes, 'device_code');
    attacked.secrets.add(deviceCode);
    const browser = await attacked.signedIn('amira');
    await browser.get('/link');
    await browser.submit({ code: textMember(codes, 'user_code') });
    await browser.follow();
    const action = new URL(browser.page.url).pathname;
    const confirmed = { action: 'consent', confirm_device: 'on' };
    const refusals = await refusalsOf(async () => browser.submit(confirmed, { action, headers: HERE }));
    expect(browser.page).toMatchObject({ status: 403, errorCodes: ['requester-banned'] });
    expect(refusals).toEqual([['access_denied', 'banned_ips']]);
    expect(await attacked.count('oauth2_device_code_grants where fulfilled_at is not null')).toBe(0);
    await browser.get(action, HERE);
    expect(browser.page.status).toBe(403);
    await browser.get(action);
    await browser.submit(confirmed, { action });
    expect(browser.page.status).toBe(303);

    const form = { grant_type: DEVICE_CODE_GRANT_TYPE, device_code: deviceCode };
    const polls = await refusalsOf(async () => {
      const response = await post('/oauth2/token', form, BY_ADDRESS);
      expect([response.status, jsonOf(response)['error']]).toEqual([400, 'access_denied']);
    });
    expect(polls).toEqual([['requester_banned', 'banned_ips']]);
    expect((await post('/oauth2/token', form, {})).status).toBe(200);
  });

  test('cannot register or update clients', async () => {
    const registered = await sendJson('POST', '/oauth2/registration', METADATA, {});
    const registrationToken = textMember(registered, 'registration_access_token');
    attacked.secrets.add(registrationToken).add(textMember(registered, 'client_secret'));
    const id = textMember(registered, 'client_id');
    const refusals = await refusalsOf(async () => {
      for (const response of [
        await sendJson('POST', '/oauth2/registration', METADATA, BY_ADDRESS),
        await sendJson(
          'PUT',
          `/oauth2/registration/${id}`,
          { ...METADATA, client_id: id },
          BY_PROGRAM,
          registrationToken,
        ),
      ]) {
        expect([response.status, jsonOf(response)['error']]).toEqual([400, 'invalid_client_metadata']);
      }
    });
    expect(refusals).toEqual([
      ['invalid_client_metadata', 'banned_ips'],
      ['invalid_client_metadata', 'banned_user_agents'],
    ]);
  });

  test('costs no additional statement', async () => {
    const lastQueries = () => attacked.service.requestLines().at(-1)?.queries ?? -1;
    const browser = await attacked.signedIn('amira');
    await browser.open(attacked.authorizeUrl(C1, { prompt: 'consent' }));
    const allowed = lastQueries();
    await browser.get(browser.page.url, HERE);
    expect(browser.page.status).toBe(403);
    expect([allowed, lastQueries()]).toEqual([1, 1]);
    await post('/oauth2/token', { grant_type: 'client_credentials' }, BY_ADDRESS);
    expect(lastQueries()).toBe(0);
  });
});

const METADATA = { redirect_uris: ['https://new.example/cb'], client_uri: 'https://new.example/', client_name: 'New' };

async function sendJson(
  method: string,
  target: string,
  body: object,
  from: Origin,
  token?: string,
): Promise<RawResponse> {
  const headers: [string, string][] = [
    ['Content-Type', 'application/json'],
    ['X-Forwarded-For', from.address ?? attacked.newAddress()],
    ['User-Agent', from.program ?? 'client/1.0'],
  ];
  if (token !== undefined) headers.push(['Authorization', `Bearer ${token}`]);
  return await attacked.ask({ method, target, headers, body: JSON.stringify(body) });
}
