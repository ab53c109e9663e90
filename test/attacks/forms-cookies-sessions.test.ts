/** Security 4.6: other sites, browsers and hosts that act with a user's session. */
import { describe, expect, test } from 'vitest';
import type { Browser } from '../support/browser.ts';
import { attackedService, C1, C2, ISSUER, PASSWORD, SIGNED_OUT } from './attacked-service.ts';
import { headerOf, type RawResponse, textMember } from './raw-http.ts';

const attacked = attackedService();
const ORIGIN = new URL(ISSUER).origin;
const FORM_TYPE = 'application/x-www-form-urlencoded';

/** Returns the paths of pages. `state` protects a provider's post to `/upstream/callback/`. */
function pagePaths(method: 'GET' | 'POST'): string[] {
  const pages = attacked.routes({ method, errorFormat: 'page' });
  return pages
    .filter(
      ({ resource, path }) => resource === 'human' && !(method === 'POST' && path.startsWith('/upstream/callback/')),
    )
    .map(({ target }) => target);
}

/** Form fields per page besides the CSRF token. With them, the post would change something. */
const FIELDS: Readonly<Record<string, Record<string, string>>> = {
  '/recover': { email: 'amira@mail.example' },
  '/login': { username: 'bruno', password: PASSWORD },
  '/reauth': { password: PASSWORD },
};

describe('a forged form (S-57)', () => {
  const FOREIGN: [string, Record<string, string | undefined>][] = [
    ['Origin of another site', { origin: 'https://evil.example' }],
    ['Origin of a sibling host', { origin: 'https://evil.example.test' }],
    ['Origin null', { origin: 'null' }],
    ['Origin with another port', { origin: `${ORIGIN}:8443` }],
    ['Origin of http', { origin: ORIGIN.replace('https', 'http') }],
    ['Sec-Fetch-Site cross-site', { 'sec-fetch-site': 'cross-site' }],
    ['Sec-Fetch-Site same-site', { 'sec-fetch-site': 'same-site' }],
    ['Sec-Fetch-Site cross-site without Origin', { 'sec-fetch-site': 'cross-site', origin: undefined }],
    ['only a foreign Referer', { 'sec-fetch-site': undefined, origin: undefined, referer: 'https://evil.example/' }],
  ];

  test.each(FOREIGN)('%s, with the right token: 403 at every form without effect', async (_, headers) => {
    const browser = await attacked.signedIn('amira');
    const grant = await waitingGrant(browser);
    const csrf = await token(browser);
    await attacked.changingNothing(async () => {
      for (const path of pagePaths('POST')) {
        const page = await browser.post(path, fieldsOf(path, grant, csrf), headers);
        expect([path, page.status, page.errorCodes]).toEqual([path, 403, ['cross_site_request']]);
      }
    });
  });

  test('with a token that is missing, empty, in the query, of another browser or older than the sign-in: 403', async () => {
    const browser = attacked.browser();
    await browser.get('/login');
    const stale = browser.page.forms[0]?.inputs.get('csrf') ?? '';
    await attacked.signedIn('amira', browser);
    const grant = await waitingGrant(browser);
    const own = await token(browser);
    const foreign = await token(await attacked.signedIn('amira'));
    await attacked.changingNothing(async () => {
      for (const path of pagePaths('POST')) {
        for (const csrf of [undefined, '', foreign, stale, own.slice(1), `${own}x`, own.toLowerCase()]) {
          const page = await browser.post(path, fieldsOf(path, grant, csrf));
          // A signed-in user who submits an earlier sign-in form continues with the current session.
          const isGoingOn = path === '/login' && csrf !== undefined && csrf !== '';
          expect([path, csrf, page.status === 403]).toEqual([path, csrf, !isGoingOn]);
          if (isGoingOn) expect([200, 303]).toContain(page.status);
        }
        const query = `${path}?csrf=${own}`;
        expect((await browser.post(query, fieldsOf(path, grant, undefined))).status, query).toBe(403);
      }
    });
  });

  test('rendered more than an hour ago is shown again without effect (S-57)', async () => {
    const browser = await attacked.signedIn('amira');
    const grant = await waitingGrant(browser);
    const csrf = await token(browser);
    attacked.clock.advanceSeconds(3601);
    await attacked.changingNothing(async () => {
      for (const path of pagePaths('POST')) {
        const { cookies } = browser;
        const kept = new Map(cookies);
        const page = await browser.post(path, fieldsOf(path, grant, csrf));
        // Users who are signed in, or have no second factor, are redirected away from pages that do not apply to them.
        const mayRedirect = ['/register', '/recover', '/login/', '/reauth/'].some((start) => path.startsWith(start));
        const isShown = mayRedirect || page.location === undefined;
        expect([path, page.status, isShown]).toEqual([path, expect.toBeOneOf([200, 303, 404, 405, 410]), true]);
        // Restores the expired cookie for each form, instead of the fresh one from the previous page.
        for (const [name, value] of kept) cookies.set(name, value);
      }
    });
  });

  test.each(['text/plain', 'multipart/form-data; boundary=x', 'application/json', ''])(
    'content type %j, which another site can send without a preflight: 415',
    async (type) => {
      const browser = await attacked.signedIn('amira');
      const grant = await waitingGrant(browser);
      const csrf = await token(browser);
      await attacked.changingNothing(async () => {
        for (const path of pagePaths('POST')) {
          const page = await browser.post(path, fieldsOf(path, grant, csrf), { 'content-type': type });
          expect([path, page.status]).toEqual([path, 415]);
        }
      });
    },
  );

  test('signing a victim in as the attacker fails: the form must come from the victim’s own browser (S-59)', async () => {
    const attacker = attacked.browser();
    await attacker.get('/login');
    const csrf = attacker.page.forms[0]?.inputs.get('csrf') ?? '';
    const victim = attacked.browser();
    const fields = new URLSearchParams({ csrf, username: 'bruno', password: PASSWORD });
    await victim.post('/login', fields, { 'sec-fetch-site': undefined, origin: undefined });
    expect(victim.page.status).toBe(403);
    expect(victim.cookies.has('__Host-latchkey_session')).toBe(false);
  });
});

test('no page can be framed, whether found, refused or unknown (S-60)', async () => {
  const browser = await attacked.signedIn('amira');
  const paths = [...pagePaths('GET'), '/nowhere', '/login/', '/account/', `/authorize/${'x'.repeat(3000)}`];
  for (const path of paths) {
    const { headers } = await browser.get(path);
    if (!String(headers['content-type']).startsWith('text/html')) continue;
    expect(headers['x-frame-options'], path).toBe('DENY');
    expect(headers['content-security-policy'], path).toContain("frame-ancestors 'none'");
  }
  for (const path of pagePaths('POST')) {
    const { headers } = await browser.post(path, new URLSearchParams());
    expect(headers['x-frame-options'], `POST ${path}`).toBe('DENY');
  }
});

test('an image, script or frame of another site does not reveal who is signed in (S-68)', async () => {
  const signedIn = await attacked.signedIn('amira');
  const stranger = attacked.browser();
  const paths = attacked
    .routes({ errorFormat: 'page', method: 'GET' })
    .filter(({ embedding }) => embedding !== 'allowed')
    .map(({ target }) => target);
  expect(paths).toContain('/login');
  for (const path of paths) {
    for (const destination of ['iframe', 'image', 'script', 'object', 'embed']) {
      const embed = { 'sec-fetch-dest': destination, 'sec-fetch-site': 'cross-site' };
      const responses = [await signedIn.get(path, embed), await stranger.get(path, embed)];
      for (const response of responses) {
        expect([path, response.status, response.body, response.location]).toEqual([path, 403, '', undefined]);
        expect(response.headers['set-cookie']).toBeUndefined();
      }
    }
  }
});

describe('planted cookies (S-62)', () => {
  test('a planted session cookie next to the genuine one: neither counts, and the victim is not signed in as the attacker', async () => {
    const victim = await attacked.signedIn('amira');
    const attacker = await attacked.signedIn('bruno');
    const own = `__Host-latchkey_session=${victim.cookies.get('__Host-latchkey_session')}`;
    const planted = `__Host-latchkey_session=${attacker.cookies.get('__Host-latchkey_session')}`;
    for (const cookie of [`${own}; ${planted}`, `${planted}; ${own}`]) {
      const page = await victim.get('/', { cookie });
      expect(page.status).toBe(200);
      expect(page.text).not.toMatch(/amira|bruno/);
    }
    expect((await victim.get('/', { cookie: `${own}; __Host-latchkey_session=garbage` })).text).toContain('amira');
  });

  test('a form token planted by a sibling host does not fit the victim’s session', async () => {
    const victim = await attacked.signedIn('amira');
    const attacker = attacked.browser();
    await attacker.get('/login');
    const csrf = attacker.page.forms[0]?.inputs.get('csrf') ?? '';
    const session = `__Host-latchkey_session=${victim.cookies.get('__Host-latchkey_session')}`;
    const cookie = `${session}; __Host-latchkey_csrf=${attacker.cookies.get('__Host-latchkey_csrf')}`;
    await attacked.changingNothing(async () => {
      const page = await victim.post('/logout', new URLSearchParams({ csrf }), { cookie });
      expect(page).toMatchObject({ status: 403, errorCodes: ['csrf_mismatch'] });
    });
  });

  test.each([
    ['200 of them', Array.from({ length: 200 }, (_, index) => `c${index}=x`).join('; '), 200],
    ['200 sessions', Array.from({ length: 100 }, () => '__Host-latchkey_session=x').join('; '), 200],
    ['20 KiB', `flood=${'x'.repeat(20_000)}`, 431],
    ['names of object properties', '__proto__=x; constructor=y; toString=z; __Host-__proto__=x', 200],
    ['no names', '=; ;;; =x; __Host-latchkey_session; __Host-latchkey_session=', 200],
  ])('a flood of %s is accepted or rejected as a whole', async (_, cookie, status) => {
    expect((await attacked.browser().get('/login', { cookie })).status).toBe(status);
  });
});

describe('a tampered cookie (S-63)', () => {
  test('with any byte changed, or under another name, counts as absent and is cleared', async () => {
    const browser = await attacked.signedIn('amira');
    await browser.get('/');
    const value = browser.cookies.get('__Host-latchkey_session') ?? '';
    const sealed = Buffer.from(value, 'base64url');
    const names = ['session', 'csrf', 'known'];
    const broken = Array.from({ length: sealed.length }, (_, index) => {
      const copy = Buffer.from(sealed);
      copy[index] = (copy[index] ?? 0) ^ (1 << (index % 8));
      return `__Host-latchkey_session=${copy.toString('base64url')}`;
    });
    const swapped = names.flatMap((name) =>
      names
        .filter((other) => other !== name)
        .map((other) => `__Host-latchkey_${name}=${browser.cookies.get(`__Host-latchkey_${other}`)}`),
    );
    const garbage = ['', 'x', '%00', 'e30', '{}', 'null', 'A'.repeat(8000), value.slice(0, -1), `${value}AAAA`].map(
      (text) => `__Host-latchkey_session=${text}`,
    );
    for (const cookie of [...broken, ...swapped, ...garbage]) {
      const page = await browser.get('/', { cookie });
      expect([page.status, page.text.includes('amira')], cookie).toEqual([200, false]);
      if (cookie.startsWith('__Host-latchkey_session=')) {
        const cleared = page.headers['set-cookie']?.find((line) => line.startsWith('__Host-latchkey_session='));
        expect(cleared, cookie).toMatch(/^__Host-latchkey_session=; .*Max-Age=0$/);
      }
    }
    browser.cookies.set('__Host-latchkey_session', value);
    expect((await browser.get('/')).text).toContain('amira');
  });

  test('the known-browser cookie of another user does not open a session', async () => {
    const one = await attacked.signedIn('amira');
    const page = await attacked.browser().get('/', {
      cookie: `__Host-latchkey_known=${one.cookies.get('__Host-latchkey_known')}; __Host-latchkey_session=${one.cookies.get('__Host-latchkey_known')}`,
    });
    expect(page.text).not.toContain('amira');
  });
});

test('only pages set cookies: sealed, host-only, with a path, HttpOnly; API clients get none (S-64)', async () => {
  const browser = await attacked.signedIn('amira');
  const sent: { path: string; lines: readonly string[] }[] = [];
  for (const { target: path, method, errorFormat } of attacked.routes()) {
    const headers: [string, string][] = [
      ['Cookie', [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')],
      ['Content-Type', FORM_TYPE],
    ];
    const response = await attacked.ask({ method, target: path, headers, ...(method === 'POST' ? { body: '' } : {}) });
    const lines = setCookies(response);
    if (errorFormat !== 'page') expect([path, lines]).toEqual([path, []]);
    sent.push({ path, lines });
  }
  const lines = sent.flatMap((entry) => entry.lines);
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) {
    expect(line).toMatch(/^__Host-latchkey_[a-z]+=[\w-]*; Path=\/; HttpOnly; SameSite=Lax; Secure(; Max-Age=\d+)?$/);
  }
});

describe('confirming the password', () => {
  async function confirm(browser: Browser, password: string): Promise<void> {
    await browser.get('/reauth');
    await browser.submit({ password }, { action: '/reauth' });
  }

  test('invalidates copies of the session’s cookie half a minute later (S-61)', async () => {
    const owner = await attacked.signedIn('amira');
    const copy = `__Host-latchkey_session=${owner.cookies.get('__Host-latchkey_session')}`;
    await confirm(owner, PASSWORD);
    expect(owner.page.status).toBe(303);
    attacked.clock.advanceSeconds(31);
    expect((await attacked.browser().get('/', { cookie: copy })).text).not.toContain('amira');
    expect((await owner.get('/')).text).toContain('amira');
  });

  test('ends the session at the fifth wrong password in a row, so that a stolen session stops guessing (S-87)', async () => {
    const thief = await attacked.signedIn('amira');
    const cookie = `__Host-latchkey_session=${thief.cookies.get('__Host-latchkey_session')}`;
    for (let count = 0; count < 4; count += 1) await confirm(thief, 'guess');
    expect(thief.page.errorCodes).toEqual(['invalid_credentials']);
    expect((await thief.get('/')).text).toContain('amira');
    await confirm(thief, 'guess');
    expect(thief.page.errorCodes).not.toContain('invalid_credentials');
    expect(await attacked.count("user_sessions where finish_reason = 'too_many_reauths'")).toBe(1);
    expect((await attacked.browser().get('/reauth', { cookie })).forms.map(({ action }) => action)).not.toContain(
      '/reauth',
    );
  });

  test('correctly in between resets the count (S-87)', async () => {
    const owner = await attacked.signedIn('amira');
    for (const password of ['a', 'b', 'c', 'd', PASSWORD, 'e', 'f', 'g', 'h']) await confirm(owner, password);
    expect((await owner.get('/')).text).toContain('amira');
  });
});

test('signing out in one tab invalidates the form in the other, and its pages are not cached (S-65)', async () => {
  const browser = await attacked.signedIn('amira');
  await waitingGrant(browser);
  expect(browser.page.headers['cache-control']).toBe('no-store');
  const form = browser.page.forms.find(({ action }) => action === '/authorize') ?? expect.fail('no form');
  const consent = new URLSearchParams([...form.inputs, ['action', 'consent']]);
  await browser.get('/');
  expect(browser.page.headers['cache-control']).toBe('no-store');
  await browser.submit({}, { action: '/logout' });
  await attacked.changingNothing(async () => {
    expect((await browser.post('/authorize', consent)).status).toBe(403);
  });
});

test('opening /logout does not sign out, whatever the method (S-67)', async () => {
  const browser = await attacked.signedIn('amira');
  await attacked.changingNothing(async () => {
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      const cookie = `__Host-latchkey_session=${browser.cookies.get('__Host-latchkey_session')}`;
      const response = await attacked.ask({
        method,
        target: '/logout?scope=everywhere',
        headers: [['Cookie', cookie]],
      });
      expect([method, setCookies(response).some((line) => line.startsWith('__Host-latchkey_session='))]).toEqual([
        method,
        false,
      ]);
    }
    await browser.get('/logout', { 'x-http-method-override': 'POST', purpose: 'prefetch' });
  });
  expect((await browser.get('/')).text).toContain('amira');
});

/** Returns the browser of `amira`, who has signed in to C1, and her ID token. */
async function signedInAtClient(): Promise<{ browser: Browser; hint: string }> {
  const browser = await attacked.signedIn('amira');
  const { answer: response } = await attacked.tokens(browser, C1);
  return { browser, hint: textMember(response, 'id_token') };
}

test('a link to /oauth2/logout from another site does not sign out without asking (S-67)', async () => {
  const { browser, hint } = await signedInAtClient();
  const { hint: foreign } = await signedInAtClient();
  const { answer: response } = await attacked.tokens(await attacked.signedIn('bruno'), C1);
  const crossSite = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
  await attacked.changingNothing(async () => {
    const hints = [undefined, foreign, textMember(response, 'id_token')];
    for (const fields of hints.map((text) => (text === undefined ? {} : { id_token_hint: text }))) {
      const requested = await browser.get(`/oauth2/logout?${new URLSearchParams(fields)}`, crossSite);
      expect(requested.status).toBe(200);
      expect(requested.forms.map(({ action }) => action)).toEqual(['/logout']);
      const posted = await browser.post('/oauth2/logout', new URLSearchParams(fields), crossSite);
      expect((await browser.get(posted.location ?? '')).status).toBe(200);
    }
    const verified = `/oauth2/logout?${new URLSearchParams({ id_token_hint: hint })}`;
    for (const headers of [
      { 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-dest': 'image', 'sec-fetch-site': 'cross-site' },
      { 'sec-purpose': 'prefetch;prerender' },
    ]) {
      expect((await browser.get(verified, headers)).status).toBe(403);
    }
    expect((await browser.head(verified)).status).toBe(405);
  });
  expect((await browser.get('/')).text).toContain('amira');
});

test('signing out is not an open redirect: it only redirects to a registered URI (S-67)', async () => {
  const { browser, hint } = await signedInAtClient();
  await attacked.changingNothing(async () => {
    for (const address of [
      'https://evil.example/',
      C1.callback,
      `${SIGNED_OUT}/`,
      `${SIGNED_OUT}?next=https://evil.example`,
      `${SIGNED_OUT}#x`,
      `${SIGNED_OUT}.evil.example`,
      'https://app.example@evil.example/signed-out',
      '//evil.example/signed-out',
      'javascript:alert(1)',
    ]) {
      for (const proof of [{ id_token_hint: hint }, { client_id: C1.id }, { id_token_hint: hint, client_id: C1.id }]) {
        const fields = new URLSearchParams({ ...proof, post_logout_redirect_uri: address });
        const responses = [
          await browser.get(`/oauth2/logout?${fields}`),
          await browser.post('/oauth2/logout', fields),
          await attacked.browser().get(`/oauth2/logout?${fields}`),
        ];
        expect(responses.map(({ status, location }) => [status, location])).toEqual(
          responses.map(() => [400, undefined]),
        );
      }
    }
    const unnamed = new URLSearchParams({ post_logout_redirect_uri: SIGNED_OUT });
    expect((await browser.get(`/oauth2/logout?${unnamed}`)).status).toBe(400);
  });
  const right = new URLSearchParams({ id_token_hint: hint, post_logout_redirect_uri: SIGNED_OUT });
  expect((await browser.get(`/oauth2/logout?${right}`)).location).toBe(SIGNED_OUT);
});

test('an altered ID token is not accepted as a hint (S-36)', async () => {
  const { browser, hint } = await signedInAtClient();
  const [head = '', body = '', signature = ''] = hint.split('.');
  const claims: unknown = JSON.parse(Buffer.from(body, 'base64url').toString());
  const altered = Buffer.from(JSON.stringify({ ...Object(claims), aud: C2.id })).toString('base64url');
  const unsigned = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
  await attacked.changingNothing(async () => {
    for (const text of [`${head}.${altered}.${signature}`, `${unsigned}.${body}.`, `${head}.${body}.`, body]) {
      const page = await browser.get(`/oauth2/logout?${new URLSearchParams({ id_token_hint: text })}`);
      expect([page.status, page.location]).toEqual([400, undefined]);
    }
  });
});

function setCookies(response: RawResponse): readonly string[] {
  if (headerOf(response, 'set-cookie') !== undefined) expect(headerOf(response, 'cache-control')).toBe('no-store');
  return response.headers.get('set-cookie') ?? [];
}

/** Opens a consent page and leaves it pending. @returns its grant */
async function waitingGrant(browser: Browser): Promise<string> {
  await browser.open(attacked.authorizeUrl(C1, { prompt: 'consent' }));
  return new URL(browser.page.url).pathname.split('/').at(-1) ?? '';
}

/** Returns the CSRF token of the signed-in user. */
async function token(browser: Browser): Promise<string> {
  await browser.get('/');
  return browser.page.forms[0]?.inputs.get('csrf') ?? expect.fail('no form');
}

function fieldsOf(path: string, grant: string, csrf: string | undefined): URLSearchParams {
  const decision = { grant_id: grant, action: 'consent' };
  const fields = new URLSearchParams(path === '/authorize' ? decision : (FIELDS[path] ?? {}));
  if (csrf !== undefined) fields.set('csrf', csrf);
  return fields;
}
