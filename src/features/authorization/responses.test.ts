/** What every response to a client contains, in every response mode (oauth 20 fact 6). */
import { beforeAll, describe, expect, test } from 'vitest';
import {
  AUTHORIZATION_ISSUER,
  authorizeUrl,
  CALLBACK,
  startAuthorizationService,
} from '#test/support/authorization-service.ts';
import type { Browser, Page } from '#test/support/browser.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { refusingWrites } from '#test/support/refusing-writes.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { ClientId } from '#vocabulary/ids.ts';

/** Characters that need escaping in at least one of the three formats. */
const STATE = 'a b&c=d#"<é%20+';
const SECRET = 'the secret of the client';

type Fields = Readonly<Record<string, string | undefined>>;
let alice: Browser;

const testDatabase = await sharedByTests(createTestDatabase());
const service = await sharedByTests(startAuthorizationService(testDatabase.database));
const broken = await sharedByTests(startAuthorizationService(refusingWrites(testDatabase.database)));

beforeAll(async () => {
  await service.person('alice');
  alice = await service.signedIn('alice');
});

async function client(metadata: Readonly<Record<string, unknown>> = {}): Promise<ClientId> {
  return await service.client({ secret: SECRET, metadata });
}

async function trusted(): Promise<ClientId> {
  return await client({ first_party: true });
}

async function decide(fields: Fields, action: string): Promise<Page> {
  await alice.open(authorizeUrl(await client(), fields));
  await alice.submit({ action }, { action: '/authorize' });
  return await alice.follow();
}

/** Pushes the request first. Only the pushed `fields` count, not those in the URL. */
async function pushed(id: string, fields: Fields): Promise<string> {
  const all = { response_type: 'code', redirect_uri: CALLBACK, scope: 'openid', ...fields };
  const body = new URLSearchParams();
  for (const [name, value] of Object.entries(all)) if (value !== undefined) body.set(name, value);
  const headers = { authorization: `Basic ${Buffer.from(`${id}:${encodeURIComponent(SECRET)}`).toString('base64')}` };
  const response = await fetch(`${service.origin}/oauth2/par`, { method: 'POST', headers, body });
  expect(response.status).toBe(201);
  const { request_uri } = await response.json();
  return request_uri;
}

/** A request sent by POST without cookies, continued without the ticket that it received. */
async function withoutTicket(fields: Fields): Promise<Page> {
  const [, query = ''] = authorizeUrl(await trusted(), { ...fields, prompt: 'none' }).split('?');
  const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://app.example.org', cookie: undefined };
  const { location = '' } = await alice.post('/authorize', new URLSearchParams(query), headers);
  return await alice.open(new URL(location).pathname);
}

/** Sends `fields` and the additional parameters that cause the error. */
const refused =
  (more: Fields) =>
  async (fields: Fields): Promise<Page> =>
    await service.browser().open(authorizeUrl(await client(), { ...fields, ...more }));

/** `error` of the response; `code` if it carries a code. */
const RESPONSES: readonly (readonly [error: string, when: string, ask: (fields: Fields) => Promise<Page>])[] = [
  ['code', 'after a consent', async (fields) => await decide(fields, 'consent')],
  ['code', 'without a page', async (fields) => await alice.open(authorizeUrl(await trusted(), fields))],
  [
    'code',
    'of prompt=none',
    async (fields) => await alice.open(authorizeUrl(await trusted(), { ...fields, prompt: 'none' })),
  ],
  [
    'code',
    'of a pushed request',
    async (fields) => {
      const id = await trusted();
      const request_uri = await pushed(id, fields);
      return await alice.open(`/authorize?${new URLSearchParams({ client_id: id, request_uri })}`);
    },
  ],
  ['access_denied', 'by the person', async (fields) => await decide(fields, 'cancel')],
  [
    'access_denied',
    'by the policy, of prompt=none',
    async (fields) =>
      await alice.open(authorizeUrl(await client(), { ...fields, scope: 'openid urn:latchkey:admin', prompt: 'none' })),
  ],
  [
    'consent_required',
    'of prompt=none',
    async (fields) => await alice.open(authorizeUrl(await client(), { ...fields, prompt: 'none' })),
  ],
  ['interaction_required', 'of prompt=none by POST', withoutTicket],
  ['invalid_request', 'for max_age', refused({ max_age: '-1' })],
  ['invalid_request', 'for an id_token_hint', refused({ id_token_hint: 'x' })],
  ['invalid_request_object', 'for request', refused({ request: 'x' })],
  [
    'invalid_request_uri',
    'of a reference that is unknown',
    refused({ request_uri: `urn:ietf:params:oauth:request_uri:${'x'.repeat(43)}` }),
  ],
  ['invalid_scope', 'for scope', refused({ scope: '"' })],
  ['invalid_target', 'for resource', refused({ resource: 'https://api.example.org/unknown' })],
  ['login_required', 'of prompt=none', refused({ prompt: 'none' })],
  ['registration_not_supported', 'for registration', refused({ registration: '{}' })],
  ['request_uri_not_supported', 'for request_uri', refused({ request_uri: 'https://evil.example/x' })],
  ['server_error', 'of a defect', async (fields) => await broken.browser().open(authorizeUrl(await client(), fields))],
  [
    'unauthorized_client',
    'without the grant type',
    async (fields) =>
      await service.browser().open(authorizeUrl(await client({ grant_types: ['client_credentials'] }), fields)),
  ],
  [
    'unmet_authentication_requirements',
    'for claims',
    refused({ claims: '{"id_token":{"acr":{"essential":true,"value":"urn:unknown"}}}' }),
  ],
  ['unsupported_response_type', 'for response_type', refused({ response_type: 'code id_token' })],
];

/** Reads the response from the place that its mode defines, and from nowhere else. */
function read(page: Page, mode: string): Record<string, string> {
  if (mode === 'form_post') {
    expect(page).toMatchObject({ status: 200, location: undefined });
    const [form] = page.forms;
    expect(form).toMatchObject({ method: 'POST', action: CALLBACK });
    return Object.fromEntries(form?.inputs ?? []);
  }
  expect(page.status).toBe(303);
  const location = page.headers.location ?? '';
  const [separator, end] = mode === 'query' ? ['?', '#'] : ['#', ''];
  expect(location.slice(0, CALLBACK.length + 1)).toBe(CALLBACK + separator);
  const carried = location.slice(CALLBACK.length + 1, end === '' ? undefined : -1);
  expect(location.endsWith(end)).toBe(true);
  expect(carried).not.toContain('#');
  return Object.fromEntries(new URLSearchParams(carried));
}

describe.each(RESPONSES)('%s %s', (error, _, ask) => {
  test.each(
    ['query', 'fragment', 'form_post'].flatMap((mode) => [
      { mode, with: 'state', state: STATE },
      // A parameter without a value counts as omitted (RFC 6749 3.1).
      { mode, with: 'an empty state', state: '' },
      { mode, with: 'no state', state: undefined },
    ]),
  )('by $mode, with $with: carries iss and the original state, and nothing more (S-23)', async ({ mode, state }) => {
    const sent = read(await ask({ response_mode: mode, state }), mode);
    const outcome =
      error === 'code' ? { code: expect.stringMatching(/^\S{43}$/) } : { error, error_description: expect.any(String) };
    expect(sent).toEqual({
      ...outcome,
      iss: AUTHORIZATION_ISSUER,
      ...(state !== undefined && state !== '' && { state }),
    });
  });
});
