/** Security 4.2: a stolen, replayed or injected authorization code. If one of these fails, an attacker is signed in. */
import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import type { Browser } from '../support/browser.ts';
import { cleanUpAll } from '../support/clean-up.ts';
import {
  attackedService,
  basic,
  C1,
  C2,
  C3,
  CHALLENGE,
  ISSUER,
  isConsent,
  P1,
  SECOND_CALLBACK,
  UNKNOWN_ID,
  VERIFIER,
} from './attacked-service.ts';
import { jsonOf, type RawResponse, textMember } from './raw-http.ts';

const attacked = attackedService();
/** Keeps grants for longer than the browser remembers them. */
const patient = attackedService({ oauth: { authorization_grant_ttl: '24h' } });
const PKCE = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };

function expectNoTokens(response: RawResponse, error = 'invalid_grant'): void {
  expect(response.status).toBe(400);
  expect(jsonOf(response)).toEqual({ error, error_description: expect.any(String) });
}

describe('an intercepted code', () => {
  test('is refused to another client with otherwise valid data, and stays valid for its own client (S-14)', async () => {
    const code = await attacked.code(await attacked.signedIn('amira'), C1, PKCE);
    const stolen = { redirect_uri: C1.callback, code_verifier: VERIFIER };
    const before = attacked.service.logLines().length;
    await attacked.changingNothing(async () => expectNoTokens(await attacked.exchange(C2, code, stolen)));
    expect(attacked.service.logLines().slice(before).join('\n')).toMatch(/ INFO auth\.refused POST-\d+ - /);
    expect((await attacked.exchange(C1, code, { code_verifier: VERIFIER })).status).toBe(200);
  });

  test('is invalid one second after its expiry (S-15)', async () => {
    const browser = await attacked.signedIn('amira');
    for (const [asking, fields] of [
      [C1, {}],
      [C1, PKCE],
      [P1, {}],
    ] as const) {
      const verifier: Record<string, string> = fields === PKCE ? { code_verifier: VERIFIER } : {};
      const code = await attacked.code(browser, asking, fields);
      attacked.clock.advanceSeconds(61);
      for (const _ of [1, 2]) {
        await attacked.changingNothing(async () => expectNoTokens(await attacked.exchange(asking, code, verifier)));
      }
      const inTime = await attacked.code(browser, asking, fields);
      attacked.clock.advanceSeconds(60);
      expect((await attacked.exchange(asking, inTime, verifier)).status).toBe(200);
    }
  });

  test('replayed after 1 s is refused, after 25 s it ends the session with all its tokens (S-16)', async () => {
    const { code, accessToken, refreshToken } = await attacked.tokens(await attacked.signedIn('amira'), C1);
    attacked.clock.advanceSeconds(1);
    expectNoTokens(await attacked.exchange(C1, code));
    expect(await attacked.introspect(accessToken)).toMatchObject({ active: true });
    attacked.clock.advanceSeconds(24);
    expectNoTokens(await attacked.exchange(C1, code));
    expect(await attacked.introspect(accessToken)).toEqual({ active: false });
    expectNoTokens(await attacked.refresh(C1, refreshToken));
  });

  test.each<[string, Record<string, string>]>([
    ['another verifier', { code_verifier: VERIFIER.replace('d', 'e') }],
    ['no verifier', { code_verifier: '' }],
  ])('replayed immediately with %s is not a double send: it ends the session (S-16)', async (_, fields) => {
    const { code, accessToken, refreshToken } = await attacked.tokens(await attacked.signedIn('amira'), P1);
    expectNoTokens(await attacked.exchange(P1, code, fields));
    expect(await attacked.introspect(accessToken)).toEqual({ active: false });
    expectNoTokens(await attacked.refresh(P1, refreshToken));
  });

  test('replayed by another client never ends the user’s session (S-14, S-16)', async () => {
    const { code, accessToken } = await attacked.tokens(await attacked.signedIn('amira'), C1);
    for (const seconds of [1, 24]) {
      attacked.clock.advanceSeconds(seconds);
      await attacked.changingNothing(async () => {
        expectNoTokens(await attacked.exchange(C2, code, { redirect_uri: C1.callback }));
        expectNoTokens(await attacked.exchange(P1, code, { redirect_uri: C1.callback }));
      });
    }
    expect(await attacked.introspect(accessToken)).toMatchObject({ active: true });
  });

  test('is redeemed once by 50 concurrent requests on two instances (S-17)', async () => {
    const code = await attacked.code(await attacked.signedIn('amira'), C1);
    await attacked.withSecondInstance(async (second) => {
      const sessions = await attacked.count('oauth2_sessions');
      const responses = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          attacked.exchange(C1, code, {}, index % 2 === 0 ? second : attacked.service),
        ),
      );
      const won = responses.filter(({ status }) => status === 200);
      expect(won).toHaveLength(1);
      for (const response of responses) if (response.status !== 200) expectNoTokens(response);
      expect(await attacked.count('oauth2_sessions')).toBe(sessions + 1);
      const [winner] = won;
      const { accessToken } = attacked.held(code, winner ?? expect.fail('no winner'));
      expect(await attacked.introspect(accessToken)).toMatchObject({ active: true });
    });
  });

  test('injected into the attacker’s sign-in fails on PKCE, and carries the victim’s nonce (S-21)', async () => {
    const stolen = await attacked.code(await attacked.signedIn('amira'), P1, { nonce: 'of the victim' });
    // The attacker's own request has another challenge, and the application holds its verifier.
    const verifier = 'another-verifier-of-forty-three-characters-0';
    expectNoTokens(await attacked.exchange(P1, stolen, { code_verifier: verifier }));
    const confidential = await attacked.code(await attacked.signedIn('amira'), C1, { nonce: 'of the victim' });
    const claims = decodeJwt(textMember(await attacked.exchange(C1, confidential), 'id_token'));
    expect(claims['nonce']).toBe('of the victim');
  });

  test('is refused with another redirect URI of the same client, and without one (S-22)', async () => {
    const browser = await attacked.signedIn('amira');
    for (const redirect_uri of [SECOND_CALLBACK, '', `${C3.callback}/`]) {
      const code = await attacked.code(browser, C3);
      await attacked.changingNothing(async () => expectNoTokens(await attacked.exchange(C3, code, { redirect_uri })));
    }
  });
});

describe('PKCE', () => {
  const WRONG: [string, Record<string, string>][] = [
    ['none', {}],
    ['wrong', { code_verifier: VERIFIER.replace('d', 'e') }],
    ['empty', { code_verifier: '' }],
    ['of 42 characters', { code_verifier: VERIFIER.slice(1) }],
    ['of 129 characters', { code_verifier: 'x'.repeat(129) }],
    ['with padding', { code_verifier: `${VERIFIER}=` }],
    ['the challenge itself', { code_verifier: CHALLENGE }],
  ];

  test.each(WRONG)('a verifier that is %s yields no tokens (S-18)', async (_, fields) => {
    const browser = await attacked.signedIn('amira');
    const sessions = await attacked.count('oauth2_sessions');
    for (const asking of [C1, P1]) {
      const code = await attacked.code(browser, asking, PKCE);
      const verifier = { code_verifier: '', ...fields };
      expectNoTokens(await attacked.exchange(asking, code, verifier));
      // A wrong verifier invalidates the code. A missing one does not.
      const again = await attacked.exchange(asking, code, { code_verifier: VERIFIER });
      if (verifier.code_verifier !== '') expectNoTokens(again);
      else attacked.held(code, again);
    }
    const opened = fields['code_verifier'] ? 0 : 2;
    expect(await attacked.count('oauth2_sessions')).toBe(sessions + opened);
  });

  test('two verifiers, the right one among them, yield no tokens (S-18)', async () => {
    const code = await attacked.code(await attacked.signedIn('amira'), C1, PKCE);
    const form = new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: C1.callback });
    const body = `${form}&code_verifier=${VERIFIER}&code_verifier=${VERIFIER}`;
    expectNoTokens(await attacked.post('/oauth2/token', body, basic(C1)), 'invalid_request');
  });

  test('a verifier without an earlier challenge is treated as tampering (S-19)', async () => {
    const code = await attacked.code(await attacked.signedIn('amira'), C1);
    expectNoTokens(await attacked.exchange(C1, code, { code_verifier: VERIFIER }));
  });

  test.each([
    ['no challenge', { code_challenge: undefined, code_challenge_method: undefined }],
    ['plain', { code_challenge_method: 'plain' }],
    ['no method, which defaults to plain', { code_challenge_method: undefined }],
    ['another letter case', { code_challenge_method: 's256' }],
    ['a challenge of 42 characters', { code_challenge: CHALLENGE.slice(1) }],
  ])('a public client with %s is refused before anyone signs in (S-20)', async (_, fields) => {
    const url = attacked.authorizeUrl(P1, fields);
    const form = new URLSearchParams(url.split('?')[1]);
    await attacked.changingNothing(async () => {
      for (const { location } of [
        await attacked.browser().get(url),
        await attacked.browser().post('/authorize', form, { cookie: undefined }),
      ]) {
        const { origin, searchParams } = new URL(location ?? '');
        expect(origin).toBe('https://spa.example');
        expect(Object.fromEntries(searchParams)).toMatchObject({ error: 'invalid_request', state: 'st', iss: ISSUER });
      }
      expectNoTokens(await attacked.post('/oauth2/par', form.toString()), 'invalid_request');
    });
  });
});

describe('a request that awaits consent', () => {
  test('is decided by the user who saw the page, not by the next user of the same browser (S-24)', async () => {
    const browser = await attacked.signedIn('amira');
    await requested(browser);
    const form = browser.page.forms.find(({ action }) => action === '/authorize') ?? expect.fail('no form');
    const consent = new URLSearchParams([...form.inputs, ['action', 'consent']]);
    await browser.get('/');
    await browser.submit({}, { action: '/logout' });
    await attacked.signedIn('bruno', browser);
    await attacked.changingNothing(async () => {
      const page = await browser.post('/authorize', consent);
      expect(page).toMatchObject({ status: 403, location: undefined, errorCodes: ['csrf_mismatch'] });
    });
  });

  test('opened in another browser asks the user signed in there (S-24)', async () => {
    const grant = await requested(await attacked.signedIn('amira'));
    const other = await attacked.signedIn('bruno');
    // Bruno has already consented to this client. Only the browser that made the request may skip the consent page.
    await attacked.code(other, C3);
    await other.open(`/authorize/${grant}`);
    expect(isConsent(other.page)).toBe(true);
    expect(other.page.text).toContain('bruno');
    expect(other.page.text).not.toContain('amira');
    // The same for a request without `prompt=consent`.
    const { location = '' } = await attacked.browser().get(attacked.authorizeUrl(C3));
    const waiting = new URL(location).searchParams.get('id') ?? expect.fail('no request');
    await other.open(`/authorize/${waiting}`);
    expect(isConsent(other.page)).toBe(true);
    await other.open(attacked.authorizeUrl(C3));
    expect(other.page.location, 'in the browser that made it').toContain('code=');
  });

  test('decided by a form of another browser counts for that user only, never mixed (S-24)', async () => {
    const victim = await attacked.signedIn('amira');
    const grant = await requested(victim);
    const seen = victim.page.forms.find(({ action }) => action === '/authorize') ?? expect.fail('no form');
    const attacker = await attacked.signedIn('bruno');
    const decide = async (csrf: string, at: Browser) =>
      await at.post('/authorize', new URLSearchParams({ csrf, grant_id: grant, action: 'consent' }));
    await attacked.changingNothing(async () => {
      // The victim's form in the attacker's browser, and in a browser without a session.
      for (const at of [attacker, attacked.browser()]) {
        const refused = await decide(seen.inputs.get('csrf') ?? '', at);
        expect(refused).toMatchObject({ status: 403, location: undefined });
      }
    });
    await attacker.get('/');
    const own = attacker.page.forms[0]?.inputs.get('csrf') ?? expect.fail('no form');
    await attacked.changingNothing(async () => {
      // The attacker's form in the victim's browser.
      expect(await decide(own, victim)).toMatchObject({ status: 403, location: undefined });
    });
    // Attackers who submit their own form decide for themselves.
    const { location = '' } = await decide(own, attacker);
    const code = new URL(location).searchParams.get('code') ?? '';
    const tokens = attacked.held(code, await attacked.exchange(C3, code));
    expect(await attacked.introspect(tokens.accessToken)).toMatchObject({ active: true, username: 'bruno' });
    const consents = (username: string): string =>
      `oauth2_consents c join users u on u.id = c.user_id
        where u.username = '${username}' and 'email' = any (c.scope)`;
    expect([await attacked.count(consents('bruno')), await attacked.count(consents('amira'))]).toEqual([1, 0]);
    const late = await victim.post('/authorize', new URLSearchParams([...seen.inputs, ['action', 'consent']]));
    expect(late).toMatchObject({ status: 409, location: undefined });
    expect(late.body).not.toContain(code);
  });

  test('decided in one browser with form_post is not carried out in another (S-24)', async () => {
    const victim = await attacked.signedIn('amira');
    await victim.open(
      attacked.authorizeUrl(C3, { scope: 'openid email', prompt: 'consent', response_mode: 'form_post' }),
    );
    const decided = await victim.submit({ action: 'consent' }, { action: '/authorize' });
    const step = decided.location ?? expect.fail('no next step');
    const other = await attacked.signedIn('bruno');
    await other.open(step);
    expect(isConsent(other.page)).toBe(true);
    expect((await attacked.browser().get(step)).location).toContain('/login');
    // The same user has not seen the page in the other browser.
    const elsewhere = await attacked.signedIn('amira');
    await elsewhere.open(step);
    expect(isConsent(elsewhere.page)).toBe(true);
    await victim.get(step);
    const code = victim.page.forms[0]?.inputs.get('code') ?? expect.fail('no code');
    const { accessToken } = attacked.held(code, await attacked.exchange(C3, code));
    expect(await attacked.introspect(accessToken)).toMatchObject({ username: 'amira' });
  });

  test.each([
    [59, false],
    [61, true],
  ])(
    'opened by its ticket %i s after the POST, as from a stranger’s link: consent asked: %s (S-24)',
    async (seconds, isRequested) => {
      const victim = await attacked.signedIn('amira');
      await attacked.code(victim, C3);
      const form = new URLSearchParams(attacked.authorizeUrl(C3).split('?')[1]);
      const { location = '' } = await attacked.browser().post('/authorize', form, { cookie: undefined });
      expect(location).toContain('bind=');
      attacked.clock.advanceSeconds(seconds);
      await victim.open(location);
      expect(isConsent(victim.page)).toBe(isRequested);
      expect(victim.page.location?.startsWith(C3.callback)).toBe(isRequested ? undefined : true);
    },
  );

  test.each([
    [3599, false],
    [3601, true],
  ])(
    'made in this browser %i s ago, perhaps by another user: consent asked: %s (S-24)',
    async (seconds, isRequested) => {
      await patient.code(await patient.signedIn('amira'), C3);
      const browser = patient.browser();
      await browser.get(patient.authorizeUrl(C3));
      const id = new URL(browser.page.location ?? '').searchParams.get('id') ?? '';
      patient.clock.advanceSeconds(seconds - 1);
      await patient.signedIn('amira', browser);
      await browser.open(`/authorize/${id}`);
      expect(isConsent(browser.page)).toBe(isRequested);
      expect(browser.page.location?.startsWith(C3.callback)).toBe(isRequested ? undefined : true);
    },
  );

  test('uses the stored consent: additional form fields change nothing (S-26)', async () => {
    const browser = await attacked.signedIn('amira');
    const grant = await requested(browser);
    await browser.submit(
      {
        action: 'consent',
        scope: 'openid urn:latchkey:admin',
        redirect_uri: 'https://evil.example/cb',
        user_id: UNKNOWN_ID,
        state: 'evil',
      },
      { action: '/authorize' },
    );
    const callback = new URL(browser.page.location ?? '');
    expect(callback.origin + callback.pathname).toBe(C3.callback);
    expect(callback.searchParams.get('state')).toBe('st');
    const response = await attacked.exchange(C3, callback.searchParams.get('code') ?? '');
    expect(textMember(response, 'scope')).toBe('openid email');
    expect((await browser.get(`/consent/${grant}`)).status).toBe(409);
  });

  test('decided with another grant’s id, or with a client_id, affects neither grant (S-26)', async () => {
    const browser = await attacked.signedIn('amira');
    const grant = await requested(browser);
    await attacked.changingNothing(async () => {
      const unknown = await browser.submit({ action: 'consent', grant_id: UNKNOWN_ID }, { action: '/authorize' });
      expect(unknown).toMatchObject({ status: 404, location: undefined });
      await browser.get(`/consent/${grant}`);
      const mixed = await browser.submit({ action: 'consent', client_id: C2.id }, { action: '/authorize' });
      expect(mixed).toMatchObject({ status: 400, location: undefined });
    });
  });
});

describe('a finished request (S-25)', () => {
  /** Paths at which other servers hand out the code. */
  const guesses = (grant: string): string[] => [
    ...['approval', 'approve', 'callback', 'continue', 'complete'].map((name) => `/${name}?req=${grant}&id=${grant}`),
    ...['approval', 'approve', 'code', 'response', 'finish'].map((name) => `/authorize/${grant}/${name}`),
    ...[`/consent/${grant}/approve`, `/oauth2/authorize/${grant}`, `/oauth2/approval?req=${grant}`],
  ];
  const paths = (grant: string, code: string): string[] => [
    ...[`/authorize/${grant}`, `/consent/${grant}`, `/authorize/${grant}?bind=${code}`],
    ...[`/authorize/${grant}?action=consent`, `/authorize?grant_id=${grant}`, `/consent/${grant}?action=consent`],
  ];

  async function expectNothing(reader: Browser, grant: string, code: string, status: number): Promise<void> {
    for (const path of [...paths(grant, code), ...guesses(grant)]) {
      const page = await reader.get(path);
      const expected = path.startsWith('/authorize?') ? 400 : guesses(grant).includes(path) ? 404 : status;
      expect([path, page.status, page.location]).toEqual([path, expected, undefined]);
      expect(page.body, path).not.toContain(code);
      expect(JSON.stringify(page.headers), path).not.toContain(code);
    }
  }

  test.each(['query', 'fragment', 'form_post'])(
    'answered by %s never shows its code again, before or after it is redeemed (S-25)',
    async (response_mode) => {
      const browser = await attacked.signedIn('amira');
      await browser.open(attacked.authorizeUrl(C3, { prompt: 'consent', response_mode }));
      const grant = new URL(browser.page.url).pathname.split('/').at(-1) ?? '';
      await browser.submit({ action: 'consent' }, { action: '/authorize' });
      if (response_mode === 'form_post') await browser.follow();
      const { forms, location = ISSUER } = browser.page;
      const { searchParams, hash } = new URL(location);
      const response = response_mode === 'fragment' ? new URLSearchParams(hash.slice(1)) : searchParams;
      const code = forms[0]?.inputs.get('code') ?? response.get('code') ?? expect.fail('no code');
      const readers = [browser, await attacked.signedIn('bruno'), attacked.browser()];
      await attacked.changingNothing(async () => {
        for (const reader of readers) await expectNothing(reader, grant, code, 409);
      });
      expect((await attacked.exchange(C3, code)).status).toBe(200);
      for (const reader of readers) await expectNothing(reader, grant, code, 409);
    },
  );

  test('that was deleted after expiry is unknown, and so is its code (S-25)', async () => {
    const browser = await attacked.signedIn('amira');
    const grant = await requested(browser);
    await browser.submit({ action: 'consent' }, { action: '/authorize' });
    const code = new URL(browser.page.location ?? '').searchParams.get('code') ?? '';
    attacked.clock.advanceSeconds(8 * 86_400);
    await cleanUpAll({ database: attacked.service.database, clock: attacked.clock });
    await attacked.changingNothing(async () => {
      for (const reader of [browser, attacked.browser()]) await expectNothing(reader, grant, code, 404);
      expectNoTokens(await attacked.exchange(C3, code));
    });
  });
});

describe('the admin scope (S-27)', () => {
  test.each(['urn:latchkey:admin', 'openid urn:mas:admin'])('%s is refused to an ordinary user', async (scope) => {
    const browser = await attacked.signedIn('amira');
    await browser.open(attacked.authorizeUrl(C1, { scope }));
    expect(browser.page).toMatchObject({ status: 403, location: undefined });
    const grant = new URL(browser.page.url).pathname.split('/').at(-1) ?? '';
    const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? '';
    await attacked.changingNothing(async () => {
      const forced = new URLSearchParams({ csrf, grant_id: grant, action: 'consent' });
      expect(await browser.post('/authorize', forced)).toMatchObject({ status: 403, location: undefined });
      const silent = await browser.get(attacked.authorizeUrl(C1, { scope, prompt: 'none' }));
      expect(new URL(silent.location ?? ISSUER).searchParams.get('error')).toBe('access_denied');
    });
  });

  test('cannot be gained by refresh, which only narrows scopes', async () => {
    const { refreshToken } = await attacked.tokens(await attacked.signedIn('adele'), C1);
    for (const scope of ['openid urn:latchkey:admin', 'urn:mas:admin', 'openid email']) {
      await attacked.changingNothing(async () =>
        expectNoTokens(await attacked.refresh(C1, refreshToken, { scope }), 'invalid_scope'),
      );
    }
  });
});

/** Opens a request without prior consent. @returns the pending grant of the current page */
async function requested(browser: Browser): Promise<string> {
  await browser.open(attacked.authorizeUrl(C3, { scope: 'openid email', prompt: 'consent' }));
  expect(isConsent(browser.page)).toBe(true);
  return new URL(browser.page.url).pathname.split('/').at(-1) ?? '';
}
