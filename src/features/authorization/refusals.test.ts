import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '#platform/base/ids.ts';
import { authorizeUrl, CALLBACK, responseOf, startAuthorizationService } from '#test/support/authorization-service.ts';
import { expectCleanPage } from '#test/support/clean-page.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { ClientId } from '#vocabulary/ids.ts';

let client: ClientId;
let publicClient: ClientId;

const testDatabase = await sharedByTests(createTestDatabase());
const service = await sharedByTests(startAuthorizationService(testDatabase.database));

beforeAll(async () => {
  client = await service.client({ secret: 's', metadata: { scope: 'openid email' } });
  publicClient = await service.client({ metadata: { redirect_uris: [CALLBACK, 'http://localhost:3000/cb?secret=x'] } });
  await service.person('alice');
});

function refusals() {
  return service.log.lines.filter((line) => line.event === 'auth.refused');
}

/** The single log line that a request causes. */
async function refusalOf(request: () => Promise<unknown>) {
  const before = refusals().length;
  await request();
  const lines = refusals().slice(before);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ level: 'info', message: 'authorization request refused' });
  return lines[0]?.fields ?? {};
}

const REGISTERED = 'https://app.example.org/callback';

describe("the log gives the reason for rejecting a client's request", () => {
  test.each<[string, () => string, Record<string, unknown>]>([
    [
      'a malformed client ID',
      () => authorizeUrl('my-app'),
      { code: 'invalid_request', client: 'my-app', expected: expect.stringContaining('26 characters') },
    ],
    [
      'an unknown client ID',
      () => authorizeUrl('01HZX7T3Q8V3M5N6P7R8S9T0AB'),
      { client: '01HZX7T3Q8V3M5N6P7R8S9T0AB', redirect_uri: REGISTERED, registered: undefined },
    ],
    [
      'a secret instead of the client ID',
      () => authorizeUrl('correct-horse-battery-staple'),
      { client: 'correc... (28 characters)' },
    ],
    [
      'a redirect URI that differs',
      () => authorizeUrl(publicClient, { redirect_uri: 'https://user:pw@app.example.org/callback/?token=hidden#frag' }),
      {
        code: 'invalid_redirect_uri',
        redirect_uri: 'https://...@app.example.org/callback/?...',
        registered: `${REGISTERED} http://localhost:3000/cb?...`,
      },
    ],
    [
      'an invalid redirect URI',
      () => authorizeUrl(client, { redirect_uri: '/callback' }),
      { redirect_uri: 'invalid URI (9 characters)', registered: REGISTERED },
    ],
    [
      'no redirect URI although two are registered',
      () => authorizeUrl(publicClient, { redirect_uri: undefined }),
      { description: expect.stringContaining('redirect_uri is required'), redirect_uri: undefined },
    ],
    [
      'an unknown response_mode',
      () => authorizeUrl(client, { response_mode: 'web_message' }),
      {
        received: 'response_mode=web_message',
        expected: 'query, fragment, form_post, query.jwt, fragment.jwt, form_post.jwt, jwt',
      },
    ],
    ['a repeated parameter', () => `${authorizeUrl(client)}&state=2`, { description: 'state is given more than once' }],
    ['a query that cannot be decoded', () => '/authorize?client_id=%zz', { client: undefined }],
  ])('on the page: %s', async (_, address, expected) => {
    const fields = await refusalOf(async () => {
      const page = await service.browser().get(address());
      expect(page).toMatchObject({ status: 400, location: undefined });
      expect(page.body).toContain('<dd lang="en" dir="ltr">');
    });
    expect(fields).toMatchObject(expected);
    expect(JSON.stringify(fields)).not.toMatch(/hidden|#frag|secret|horse|pw/);
  });

  test.each<[string, () => string, Record<string, unknown>]>([
    [
      'a response type',
      () => authorizeUrl(client, { response_type: 'token' }),
      { code: 'unsupported_response_type', received: 'response_type=token', expected: 'code' },
    ],
    [
      'a scope',
      () => authorizeUrl(client, { scope: 'groups' }),
      { code: 'invalid_scope', received: 'scope=groups', expected: 'openid email' },
    ],
    [
      'resources, complete',
      () => `${authorizeUrl(client, { resource: 'https://mcp.example/path' })}&resource=x%0Ay`,
      { code: 'invalid_target', received: 'resource=https://mcp.example/path x\ny', expected: expect.any(String) },
    ],
    [
      'no PKCE',
      () => authorizeUrl(publicClient),
      {
        code: 'invalid_request',
        received: 'no code_challenge, no code_challenge_method',
        expected: expect.stringContaining('S256'),
      },
    ],
    [
      'PKCE by the plain method',
      () => authorizeUrl(publicClient, { code_challenge: 'a'.repeat(43), code_challenge_method: 'plain' }),
      { received: 'code_challenge of 43 characters, code_challenge_method=plain' },
    ],
    ['a request object', () => authorizeUrl(client, { request: 'e30.' }), { code: 'invalid_request_object' }],
    ['a hint', () => authorizeUrl(client, { id_token_hint: 'x' }), { code: 'invalid_request' }],
    ['prompt=none without a session', () => authorizeUrl(client, { prompt: 'none' }), { code: 'login_required' }],
  ])('by redirect: %s', async (_, address, expected) => {
    const fields = await refusalOf(async () => {
      const page = await service.browser().get(address());
      expect(responseOf(page)).toHaveProperty('error');
    });
    expect(fields).toMatchObject({ ...expected, redirect_uri: REGISTERED });
    expect(fields['client']).toMatch(/^[0-9A-Z]{26}$/);
  });

  test('an admin scope the user may not grant, and a request refused when resumed', async () => {
    const open = await service.client();
    const browser = await service.signedIn('alice');
    const asking = authorizeUrl(open, { scope: 'openid urn:latchkey:admin', code_challenge: 'a'.repeat(43) });
    const fields = await refusalOf(async () => await browser.open(`${asking}&code_challenge_method=S256`));
    expect(fields).toMatchObject({ code: 'access_denied', client: open, redirect_uri: REGISTERED });
  });

  test('an address with too many pending requests', async () => {
    const browser = service.browser('203.0.113.99');
    for (let count = 0; count < 100; count += 1) await browser.get(authorizeUrl(client));
    service.clock.advanceSeconds(600);
    const fields = await refusalOf(async () => {
      const { status, headers } = await browser.get(authorizeUrl(client));
      expect([status, headers['retry-after']]).toEqual([429, '3000']);
    });
    expect(fields).toMatchObject({ code: 'rate_limited', client });
    service.clock.advanceSeconds(3000);
    expect((await browser.get(authorizeUrl(client))).status).toBe(303);
  });
});

describe('a request rejected before it is stored', () => {
  const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
  const form = (more = '') => `${authorizeUrl(client).split('?')[1]}${more}`;

  test.each<[string, number, () => { headers: Record<string, string>; body: string }, Record<string, unknown>]>([
    [
      'a body that is not UTF-8',
      400,
      () => ({ headers: FORM, body: form('&nonce=%ff') }),
      { code: 'malformed_request' },
    ],
    ['a body with NUL', 400, () => ({ headers: FORM, body: form('&nonce=%00') }), { code: 'malformed_request' }],
    [
      'JSON',
      415,
      () => ({ headers: { 'content-type': 'application/json' }, body: '{}' }),
      { code: 'unsupported_media_type' },
    ],
    ['a body that is too large', 413, () => ({ headers: FORM, body: 'x'.repeat(70_000) }), { code: 'body_too_large' }],
    [
      'a decision with a client_id',
      400,
      () => ({ headers: FORM, body: form(`&grant_id=${newId<'authorization-grant'>(1)}`) }),
      { code: 'invalid_request', description: 'grant_id and client_id must not be used together' },
    ],
    [
      'a form sent from a frame',
      403,
      () => ({ headers: { ...FORM, 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'cross-site' }, body: form() }),
      { code: 'embedding_refused' },
    ],
  ])('by POST: %s', async (_, status, request, expected) => {
    const fields = await refusalOf(async () => {
      const response = await fetch(`${service.origin}/authorize`, { method: 'POST', redirect: 'manual', ...request() });
      expect(response.status).toBe(status);
    });
    expect(fields).toMatchObject({ description: expect.any(String), ...expected });
  });

  test('by GET: a request in a frame that is not silent, and one as an image', async () => {
    for (const destination of ['iframe', 'image']) {
      const headers = { 'sec-fetch-dest': destination, 'sec-fetch-site': 'cross-site' };
      const fields = await refusalOf(async () => {
        const response = await fetch(service.origin + authorizeUrl(client), { redirect: 'manual', headers });
        expect(response.status).toBe(403);
      });
      expect(fields).toMatchObject({ code: 'embedding_refused', client, redirect_uri: REGISTERED });
    }
  });
});

describe('an error redirect to a dynamically registered client', () => {
  let stranger: ClientId;
  beforeAll(async () => {
    service.clock.advanceSeconds(1);
    stranger = await service.client({ secret: 's', isStatic: false, metadata: { scope: 'openid' } });
  });

  const wrong = (more: Record<string, string> = {}) => authorizeUrl(stranger, { prompt: 'none login', ...more });
  const silent = () => authorizeUrl(stranger, { prompt: 'none', state: 'st' });

  test('first shows a page that names the host (RFC 9700 4.11.2)', async () => {
    const page = await service.browser().get(wrong({ state: 'st' }));
    expectCleanPage(page.body);
    expect(page).toMatchObject({ status: 400, location: undefined, errorCodes: ['invalid_request'] });
    expect(page.text).toContain('Continue to app.example.org');
    expect(page.body).toMatch(/href="https:\/\/app\.example\.org\/callback\?error=invalid_request[^"]*state=st/);
  });

  test('shows a page with a form for form_post, which is not submitted automatically', async () => {
    const page = await service.browser().get(wrong({ response_mode: 'form_post' }));
    expect(page.status).toBe(400);
    expect(page.body).not.toContain('data-submit-at-once');
    expect(page.body).toContain('action="https://app.example.org/callback"');
  });

  test('is immediate for the site the browser comes from, and for configured clients', async () => {
    const back = await service.browser().get(wrong(), { referer: 'https://app.example.org/page' });
    expect(responseOf(back)).toMatchObject({ error: 'invalid_request' });
    for (const referer of ['https://evil.example/', 'http://app.example.org/', 'x', 'about:blank']) {
      expect((await service.browser().get(wrong(), { referer })).status).toBe(400);
    }
    const configured = await service.browser().get(authorizeUrl(client, { prompt: 'none login' }));
    expect(responseOf(configured)).toMatchObject({ error: 'invalid_request' });
  });

  test('is immediate for silent requests, unless a user clicked a link on another site', async () => {
    expect(responseOf(await service.browser().get(silent()))).toMatchObject({ error: 'login_required', state: 'st' });
    const inFrame = { 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'cross-site', 'sec-fetch-user': '?1' };
    expect(responseOf(await service.browser().get(silent(), inFrame))).toMatchObject({ error: 'login_required' });
    for (const browser of [service.browser(), await service.signedIn('alice')]) {
      const clicked = await browser.get(silent(), { 'sec-fetch-user': '?1', 'sec-fetch-site': 'cross-site' });
      expect(clicked).toMatchObject({ status: 400, location: undefined });
      expect(clicked.text).toContain('app.example.org');
    }
  });

  test('does not delay a successful silent request, which gets its code at once', async () => {
    const browser = await service.signedIn('alice');
    await browser.open(authorizeUrl(stranger));
    await browser.submit({ action: 'consent' }, { action: '/authorize' });
    const again = await browser.get(silent(), { 'sec-fetch-user': '?1', 'sec-fetch-site': 'cross-site' });
    expect(responseOf(again)).toHaveProperty('code');
  });
});

describe('the error page', () => {
  test('shows the developer error below the code, in English, without echoing input', async () => {
    const redirect_uri = 'https://evil.example/';
    const page = await service.browser().get(authorizeUrl(client, { redirect_uri }), { 'accept-language': 'de' });
    expect(page.headers['content-language']).toBe('de');
    expect(page.text).toContain('redirect_uri must exactly match one of the URIs registered for the client');
    expect(page.body).not.toContain('evil.example');
  });

  test('says the same for malformed and unknown client IDs (S-06)', async () => {
    const texts = [];
    for (const id of ['my-app', newId<'client'>(1)]) {
      const page = await service.browser().get(authorizeUrl(id));
      expect(page.text).toContain('its client_id is unknown');
      texts.push(page.text.replace(/GET-\d+/, ''));
    }
    expect(texts[0]).toBe(texts[1]);
  });

  test("shows no description for errors that are not the client's", async () => {
    const page = await service.browser().get(`/authorize/${newId<'authorization-grant'>(1)}`);
    expect(page.status).toBe(404);
    expect(page.body).not.toContain('<dd lang="en"');
  });
});
