/**
 * Sends every parameter of every OAuth endpoint twice (RFC 6749 3.1 and 3.2). The parameters come from the manual and
 * from lists in the code. They must include every parameter that an accepted request reads, so that new parameters are
 * covered automatically.
 */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { FormParameters } from '#platform/http/form-parameters.ts';
import { DEVICE_CODE_GRANT_TYPE } from '#protocol/oauth/client-metadata.ts';
import { CREDENTIAL_PARAMETERS } from '#protocol/oauth/presented-credentials.ts';
import { MULTIPLE_PARAMETERS, SINGLE_PARAMETERS } from '#protocol/oauth/request-parameters.ts';
import {
  attackedService,
  basic,
  C1,
  CHALLENGE,
  HOMESERVER_SECRET,
  ISSUER,
  SIGNED_OUT,
  VERIFIER,
} from '../attacks/attacked-service.ts';
import { headerOf, jsonOf, type RawResponse, textMember } from '../attacks/raw-http.ts';
import type { Browser } from '../support/browser.ts';
import { cookieHeader } from './victim.ts';

const manual = readFileSync('docs/reference/requests.md', 'utf8');
/**
 * Repeating one of these makes the client or the response target ambiguous, which results in a page (oauth 6.3 row 1).
 */
const DECISIVE = ['client_id', 'redirect_uri', 'response_mode', 'state', 'response_type', 'request', 'request_uri'];
/** Fields of the service's own forms. */
const OF_PAGES = ['action', 'bind', 'csrf', 'grant_id'];

const FOR_APPLICATIONS = /^\/(?:authorize$|oauth2\/|\.well-known\/)/;

type Form = Readonly<Record<string, string>>;
type Pairs = readonly (readonly [name: string, value: string])[];

const ASKING: Form = {
  client_id: C1.id,
  redirect_uri: C1.callback,
  response_type: 'code',
  scope: 'openid',
  state: 'st',
  code_challenge: CHALLENGE,
  code_challenge_method: 'S256',
};
const ENDING: Form = { client_id: C1.id, post_logout_redirect_uri: SIGNED_OUT, state: 'st' };

const attacked = attackedService();
let browser: Browser;
let accessToken: string;
let forms: Readonly<Record<string, Form>>;

beforeAll(async () => {
  browser = await attacked.signedIn('amira');
  const { refreshToken } = await attacked.tokens(browser, C1);
  // A token of another session, which is not refreshed.
  const { accessToken: token } = await attacked.tokens(browser, C1);
  accessToken = token;
  const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };
  const code = await attacked.code(browser, C1, pkce);
  const device = await attacked.post('/oauth2/device', { scope: 'openid' }, basic(C1));
  const deviceCode = textMember(device, 'device_code');
  attacked.secrets.add(deviceCode);
  forms = {
    authorization_code: { grant_type: 'authorization_code', code, redirect_uri: C1.callback, code_verifier: VERIFIER },
    refresh_token: { grant_type: 'refresh_token', refresh_token: refreshToken },
    client_credentials: { grant_type: 'client_credentials', scope: 'openid' },
    device_code: { grant_type: DEVICE_CODE_GRANT_TYPE, device_code: deviceCode },
    token: { token, token_type_hint: 'access_token' },
    used: { token: refreshToken, token_type_hint: 'refresh_token' },
    unknown: { token: 'x', token_type_hint: 'access_token' },
    scope: { scope: 'openid' },
    access_token: { access_token: token },
  };
});

/** For token exchange (RFC 8693 2.1). No other request reads it. */
const MULTIPLE_FIELDS = ['audience'];

function parametersOf(route: string): readonly string[] {
  const isPushed = route.endsWith(' /oauth2/par');
  const isRequest = route.endsWith(' /authorize') || isPushed;
  const listed = isRequest ? [...SINGLE_PARAMETERS, ...MULTIPLE_PARAMETERS] : [];
  return [...new Set([...listed, ...(isPushed ? CREDENTIAL_PARAMETERS : []), ...documented(route)])];
}

/** Sends an accepted request. Fails when it reads an untested parameter. */
async function acceptedReading(route: string, send: () => Promise<RawResponse>): Promise<RawResponse> {
  const spies = (['get', 'all', 'has', 'isRepeated'] as const).map((name) => vi.spyOn(FormParameters.prototype, name));
  try {
    const response = await send();
    const read = spies.flatMap((spy) => spy.mock.calls.map(([name]) => name));
    expect([...new Set(read)].filter((name) => !parametersOf(route).includes(name))).toEqual([]);
    return response;
  } finally {
    vi.restoreAllMocks();
  }
}

/** Returns the names in the first column of a route's parameter table. */
function documented(route: string): string[] {
  const section = manual.split('\n## ').find((text) => text.split('\n', 1)[0]?.includes(`\`${route}\``));
  const rows = section?.matchAll(/^\| (`[a-z_]+`(?:, `[a-z_]+`)*) \|/gm) ?? [];
  return [...rows].flatMap(([, cell = '']) => cell.replaceAll('`', '').split(', '));
}

/** Generates the form with a repeated name: with equal values, and with one empty value. */
function* repetitions(form: Form, name: string): Generator<Pairs> {
  const others = Object.entries(form).filter(([key]) => key !== name);
  const right = form[name] ?? '1';
  yield [...others, [name, right], [name, right]];
  yield [[name, ''], ...others, [name, right]];
}

function encoded(pairs: Pairs): string {
  return pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
}

async function get(path: string, pairs: Pairs, headers: [string, string][] = []): Promise<RawResponse> {
  return await attacked.ask({ target: `${path}?${encoded(pairs)}`, headers });
}

async function posted(path: string, pairs: Pairs, headers: [string, string][] = []): Promise<RawResponse> {
  const type: [string, string] = ['Content-Type', 'application/x-www-form-urlencoded'];
  return await attacked.ask({ method: 'POST', target: path, headers: [type, ...headers], body: encoded(pairs) });
}

/** Returns the log lines of the last request, except its request line. */
function refusalLine(): string {
  return attacked.service.logLines().findLast((line) => line.includes(' auth.refused ')) ?? '';
}

test('every client endpoint with parameters is tested below', () => {
  const tried = [
    ...['GET /.well-known/webfinger', 'GET /authorize', 'POST /authorize', 'GET /oauth2/logout', 'POST /oauth2/logout'],
    ...['POST /oauth2/par', 'POST /oauth2/token', 'POST /oauth2/device', 'POST /oauth2/introspect'],
    ...['POST /oauth2/revoke', 'GET /oauth2/userinfo', 'POST /oauth2/userinfo'],
  ];
  const reading = attacked.service.routes
    .filter(({ path, errorFormat }) => errorFormat === 'oauth-json' || FOR_APPLICATIONS.test(path))
    .map(({ method, path }) => `${method} ${path}`)
    // Called by providers. Its own tests repeat its parameter.
    .filter((route) => parametersOf(route).length > 0 && route !== 'POST /upstream/backchannel-logout/:id');
  expect([...new Set(reading)].toSorted()).toEqual(tried.toSorted());
});

describe('a JSON endpoint refuses a repeated parameter with invalid_request and has no effect', () => {
  const CLIENT: [string, string] = ['Authorization', basic(C1) ?? ''];
  const HOMESERVER: [string, string] = ['Authorization', `Bearer ${HOMESERVER_SECRET}`];

  test.each<[string, string, [string, string][], string, number]>([
    ['POST /oauth2/token', 'authorization_code', [CLIENT], '', 200],
    ['POST /oauth2/token', 'refresh_token', [CLIENT], '', 200],
    ['POST /oauth2/token', 'client_credentials', [CLIENT], '', 200],
    ['POST /oauth2/token', 'device_code', [CLIENT], 'authorization_pending', 400],
    ['POST /oauth2/device', 'scope', [CLIENT], '', 200],
    ['POST /oauth2/introspect', 'token', [CLIENT], '', 200],
    ['POST /oauth2/introspect', 'token', [HOMESERVER], '', 200],
    ['POST /oauth2/userinfo', 'access_token', [], '', 200],
    ['POST /oauth2/revoke', 'unknown', [CLIENT], '', 200],
    ['POST /oauth2/revoke', 'used', [CLIENT], '', 200],
  ])('%s with the form %s', async (route, formName, headers, error, status) => {
    const [, path = ''] = route.split(' ');
    const form = forms[formName] ?? {};
    const names = parametersOf(route).filter((name) => ![...MULTIPLE_PARAMETERS, ...MULTIPLE_FIELDS].includes(name));
    expect(names.length).toBeGreaterThan(0);
    await attacked.changingNothing(async () => {
      for (const name of names) {
        for (const pairs of repetitions(form, name)) {
          const response = await posted(path, pairs, headers);
          const body = jsonOf(response);
          expect([encoded(pairs), response.status, body['error']]).toEqual([encoded(pairs), 400, 'invalid_request']);
          expect(body['error_description'], encoded(pairs)).toContain(name);
        }
      }
    });
    const accepted = await acceptedReading(route, () => posted(path, Object.entries(form), headers));
    expect([accepted.status, accepted.status === 400 ? jsonOf(accepted)['error'] : '']).toEqual([status, error]);
  });

  test('POST /oauth2/par', async () => {
    const names = parametersOf('POST /oauth2/par').filter((name) => !MULTIPLE_PARAMETERS.includes(name));
    await attacked.changingNothing(async () => {
      for (const name of names) {
        for (const pairs of repetitions(ASKING, name)) {
          const response = await posted('/oauth2/par', pairs, [CLIENT]);
          const body = jsonOf(response);
          expect([encoded(pairs), response.status, body['error']]).toEqual([encoded(pairs), 400, 'invalid_request']);
          expect(body['error_description'], encoded(pairs)).toContain(name);
        }
      }
    });
    const pushing = () => posted('/oauth2/par', Object.entries(ASKING), [CLIENT]);
    expect((await acceptedReading('POST /oauth2/par', pushing)).status).toBe(201);
  });

  test('GET /oauth2/userinfo and GET /.well-known/webfinger', async () => {
    expect(parametersOf('GET /oauth2/userinfo')).toEqual(['access_token']);
    const bearer: [string, string] = ['Authorization', `Bearer ${accessToken}`];
    for (const pairs of repetitions({}, 'access_token')) {
      expect((await get('/oauth2/userinfo', pairs, [bearer])).status).toBe(400);
      expect((await posted('/oauth2/userinfo', pairs, [bearer])).status).toBe(400);
      // Without the header there is no token: the service never reads a token from the URL.
      expect((await get('/oauth2/userinfo', pairs)).status).toBe(401);
    }
    expect(parametersOf('GET /.well-known/webfinger').toSorted()).toEqual(['rel', 'resource']);
    for (const pairs of repetitions({}, 'resource')) {
      const response = await get('/.well-known/webfinger', pairs);
      expect([response.status, jsonOf(response)['error']]).toEqual([400, 'invalid_request']);
    }
  });
});

describe('an authorization request', () => {
  test.each([
    ['GET', async (pairs: Pairs) => await get('/authorize', pairs)],
    ['POST', async (pairs: Pairs) => await posted('/authorize', pairs)],
  ])(
    'by %s is refused: on a page while client or redirect URI are ambiguous, else at the client (S-02)',
    async (method, ask) => {
      const names = parametersOf(`${method} /authorize`);
      expect(names).toEqual(expect.arrayContaining([...DECISIVE, 'max_age', 'prompt', 'claims', 'dpop_jkt']));
      await attacked.changingNothing(async () => {
        for (const name of names.filter((one) => !MULTIPLE_PARAMETERS.includes(one) && !OF_PAGES.includes(one))) {
          for (const pairs of repetitions(ASKING, name)) {
            const response = await ask(pairs);
            const where = encoded(pairs);
            expect(refusalLine(), where).toContain(`description="${name} is given more than once"`);
            const location = headerOf(response, 'location');
            if (DECISIVE.includes(name)) {
              expect([where, response.status, location]).toEqual([where, 400, undefined]);
              continue;
            }
            const target = new URL(location ?? ISSUER);
            expect([where, response.status, target.origin + target.pathname]).toEqual([where, 303, C1.callback]);
            expect(Object.fromEntries(target.searchParams), where).toEqual({
              error: 'invalid_request',
              error_description: `${name} is given more than once`,
              state: 'st',
              iss: ISSUER,
            });
          }
        }
      });
      // Authorization requests ignore fields of other forms, and may contain several resources.
      const pages = OF_PAGES.filter((name) => name !== 'grant_id').flatMap((name) => [...repetitions(ASKING, name)]);
      const resources = [...Object.entries(ASKING), ['resource', ISSUER], ['resource', ISSUER]] as const;
      for (const pairs of [...pages, resources]) {
        const response = await ask(pairs);
        expect([encoded(pairs), response.status]).toEqual([encoded(pairs), 303]);
        expect(headerOf(response, 'location')).toMatch(/^\/(login\?|authorize\/)/);
      }
    },
  );

  test('the form of its page is refused with a page, and decides nothing', async () => {
    await browser.open(attacked.authorizeUrl(C1, { prompt: 'consent' }));
    const grant_id = new URL(browser.page.url).pathname.split('/').at(-1) ?? '';
    const csrf = browser.page.forms[0]?.inputs.get('csrf') ?? '';
    const form = { csrf, grant_id, action: 'consent' };
    const cookie: [string, string] = ['Cookie', cookieHeader(browser)];
    await attacked.changingNothing(async () => {
      for (const name of [...Object.keys(form), 'unknown']) {
        for (const pairs of repetitions(form, name)) {
          // An empty first `grant_id` counts as absent, so the form is treated as an authorization request without a
          // client.
          const response = await posted('/authorize', pairs, [cookie]);
          expect([name, response.status, headerOf(response, 'location')]).toEqual([name, 400, undefined]);
        }
      }
    });
    const accepted = await posted('/authorize', Object.entries(form), [cookie]);
    expect(headerOf(accepted, 'location')).toContain('code=');
  });
});

describe('a sign-out request', () => {
  test.each([
    // Without an ID token, a page shows the host of the redirect.
    ['GET', 200, async (pairs: Pairs) => await get('/oauth2/logout', pairs)],
    ['POST', 303, async (pairs: Pairs) => await posted('/oauth2/logout', pairs)],
  ])('by %s is refused with a page', async (method, accepted, ask) => {
    const names = parametersOf(`${method} /oauth2/logout`);
    expect(names).toEqual(expect.arrayContaining(['id_token_hint', 'logout_hint', 'ui_locales']));
    for (const name of names) {
      for (const pairs of repetitions(ENDING, name)) {
        const response = await ask(pairs);
        expect([encoded(pairs), response.status]).toEqual([encoded(pairs), 400]);
        expect(headerOf(response, 'location')).toBeUndefined();
      }
    }
    const ending = () => ask(Object.entries(ENDING));
    expect((await acceptedReading(`${method} /oauth2/logout`, ending)).status).toBe(accepted);
  });
});
