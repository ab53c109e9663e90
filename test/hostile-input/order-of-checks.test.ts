/**
 * The order of checks for an authorization request (oauth 6.3). The first of two faults determines the error, however
 * the request is sent.
 */
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FakeClock } from '../support/fake-clock.ts';
import { startService, type TestService } from '../support/service.ts';

const CALLBACK = 'https://app.example/cb';
const UNKNOWN_CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T00';
const GOOD = {
  redirect_uri: CALLBACK,
  response_type: 'code',
  scope: 'openid',
  state: 'st',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
};

interface Fault {
  readonly row: number;
  readonly fields?: Readonly<Record<string, string>>;
  /** A property of the client. */
  readonly client?: ClientProperty;
  /** A parameter that is sent twice. */
  readonly repeats?: string;
  /** Ways of sending in which it is valid, or is detected before all others. */
  readonly notWhen?: readonly Way[];
  readonly code: string;
  readonly description: string;
}

type Way = 'plain' | 'signed' | 'pushed';

/** Detected before the parameters are evaluated, so only applicable to plain parameters. */
const EARLY: readonly Fault[] = [
  { row: 1, repeats: 'state', code: 'invalid_request', description: 'state is given more than once' },
  { row: 2, fields: { client_id: UNKNOWN_CLIENT }, code: 'invalid_request', description: 'client_id is unknown' },
];
/** Row 3: an unreadable request object or reference. A request has at most one of them. */
const UNREADABLE: Readonly<Record<string, Fault>> = {
  'request object': {
    ...{ row: 3, fields: { request: 'x' } },
    ...{ code: 'invalid_request_object', description: 'must be a JWT' },
  },
  reference: {
    ...{ row: 3, fields: { request_uri: `urn:ietf:params:oauth:request_uri:${'x'.repeat(43)}` } },
    ...{ code: 'invalid_request_uri', description: 'does not match a request' },
  },
};
const FAULTS: readonly Fault[] = [
  { row: 4, fields: { redirect_uri: 'https://evil.example/' }, code: 'invalid_redirect_uri', description: 'one of' },
  { row: 5, fields: { response_mode: 'x' }, code: 'invalid_request', description: 'response_mode must' },
  { row: 6, fields: { state: 's'.repeat(8193) }, code: 'invalid_request', description: 'state must' },
  {
    ...{ row: 7, repeats: 'scope', code: 'invalid_request', description: 'scope is given more than once' },
    notWhen: ['signed', 'pushed'],
  },
  { row: 7, fields: { nonce: 'n'.repeat(513) }, code: 'invalid_request', description: 'nonce must' },
  { row: 7, fields: { max_age: '-1' }, code: 'invalid_request', description: 'max_age must' },
  { row: 7, fields: { prompt: 'none login' }, code: 'invalid_request', description: 'prompt none' },
  { row: 7, fields: { dpop_jkt: 'x' }, code: 'invalid_request', description: 'dpop_jkt must' },
  { row: 7, fields: { claims: '[' }, code: 'invalid_request', description: 'claims must' },
  { row: 7, fields: { id_token_hint: 'x' }, code: 'invalid_request', description: 'id_token_hint must' },
  { row: 8, fields: { authorization_details: '[]' }, code: 'invalid_request', description: 'not supported' },
  {
    ...{ row: 8, fields: { request_uri: 'https://app.example/r' }, notWhen: ['signed', 'pushed'] },
    ...{ code: 'request_uri_not_supported', description: 'request_uri is not supported' },
  },
  { row: 8, fields: { registration: '{}' }, code: 'registration_not_supported', description: 'registration' },
  { row: 9, client: 'pushes', notWhen: ['pushed'], code: 'invalid_request', description: 'must use pushed' },
  { row: 9, client: 'signs', notWhen: ['signed'], code: 'invalid_request', description: 'must sign its requests' },
  { row: 10, fields: { response_type: 'id_token' }, code: 'unsupported_response_type', description: 'response_type' },
  { row: 11, client: 'no-code', code: 'unauthorized_client', description: 'authorization_code' },
  { row: 12, fields: { code_challenge: 'x' }, code: 'invalid_request', description: 'code_challenge' },
  { row: 13, fields: { scope: 'nothing' }, code: 'invalid_scope', description: 'scopes' },
  { row: 14, fields: { resource: 'https://unknown.example' }, code: 'invalid_target', description: 'resource must' },
];
/** Rows that result in an error page. The others redirect to the client. */
const PAGES = new Set([1, 2, 4, 5]);

/** Each property doubles the number of clients. */
const CLIENT_PROPERTIES = ['signs', 'no-code', 'pushes'] as const;
type ClientProperty = (typeof CLIENT_PROPERTIES)[number];

/** Returns the client with this set of properties. */
function clientId(properties: readonly ClientProperty[]): string {
  const bits = CLIENT_PROPERTIES.map((property, index) => (properties.includes(property) ? 2 ** index : 0));
  return `01JD3Q5Z8W2N4K6M7P9R0S1T0${1 + bits.reduce<number>((sum, bit) => sum + bit, 0)}`;
}

const clock = new FakeClock();
let service: TestService;
let key: CryptoKey;

beforeAll(async () => {
  const pair = await generateKeyPair('ES256');
  key = pair.privateKey;
  const jwks = { keys: [await exportJWK(pair.publicKey)] };
  const sets = Array.from({ length: 2 ** CLIENT_PROPERTIES.length }, (_, bits) =>
    CLIENT_PROPERTIES.filter((_property, index) => (bits & (2 ** index)) !== 0),
  );
  const clients = sets.map((properties) => ({
    client_id: clientId(properties),
    client_auth_method: 'none',
    redirect_uris: [CALLBACK],
    jwks,
    require_signed_request_object: properties.includes('signs'),
    require_pushed_authorization_requests: properties.includes('pushes'),
    ...(properties.includes('no-code') && { grant_types: ['refresh_token'] }),
  }));
  // Allows URLs with an overlong `state`.
  service = await startService({ clients, limits: { max_request_line: '32KiB' } }, { clock });
});
afterAll(async () => await service.stop());

type Pair = readonly [first: Fault, second: Fault];

/** Returns all ordered pairs of faults. */
function pairsOf(faults: readonly Fault[], way: Way): Pair[] {
  const possible = faults.filter(({ notWhen }) => notWhen?.includes(way) !== true);
  const pairs = possible.flatMap((first, index) => possible.slice(index + 1).map((second): Pair => [first, second]));
  // The two parameters are mutually exclusive, which is a separate fault.
  return pairs.filter(([first, second]) => first.fields?.['request'] === undefined || !isForeignReference(second));
}

function isForeignReference({ fields }: Fault): boolean {
  return fields?.['request_uri'] !== undefined;
}

function parametersOf(faults: readonly Fault[]): URLSearchParams {
  const properties = faults.map(({ client }) => client).filter((property) => property !== undefined);
  const fields = Object.assign({}, ...[...faults].reverse().map((fault) => fault.fields ?? {}));
  const parameters = new URLSearchParams({ ...GOOD, client_id: clientId(properties), ...fields });
  for (const { repeats } of faults) if (repeats !== undefined) parameters.append(repeats, 'again');
  return parameters;
}

interface Refused {
  readonly status: number;
  readonly location: string | null;
  readonly body: string;
  /** The log line. */
  readonly line: string;
}

async function send(path: string, init: RequestInit = {}): Promise<Refused> {
  const before = service.logLines().length;
  const response = await fetch(service.address + path, { redirect: 'manual', ...init });
  const body = await response.text();
  const lines = service.logLines().slice(before);
  const line = lines.find((text) => text.includes(' auth.refused ')) ?? '';
  return { status: response.status, location: response.headers.get('location'), body, line };
}

async function requestObject(parameters: URLSearchParams): Promise<URLSearchParams> {
  const client_id = parameters.get('client_id') ?? '';
  const exp = Math.floor(clock.now() / 1000) + 60;
  const claims = { ...Object.fromEntries(parameters), iss: client_id, aud: service.issuer, exp };
  const request = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(key);
  return new URLSearchParams({ client_id, request });
}

function named([first, second]: Pair, response: Refused): unknown[] {
  const isFirst = response.line.includes(`code=${first.code} `) && response.line.includes(first.description);
  return [first.row, second.row, isFirst ? 'as the first' : response.line];
}

const asFirst = ([first, second]: Pair) => [first.row, second.row, 'as the first'];

const inQuery = async (parameters: URLSearchParams) => await send(`/authorize?${parameters}`);
const inForm = async (parameters: URLSearchParams) => await send('/authorize', { method: 'POST', body: parameters });

describe('a request with two errors is refused for the first', () => {
  test.each<[string, Way, readonly Fault[], (parameters: URLSearchParams) => Promise<Refused>]>([
    ...Object.entries(UNREADABLE).flatMap(([name, unreadable]): [string, Way, readonly Fault[], typeof inQuery][] => [
      [`in the query, with a ${name} that cannot be read`, 'plain', [...EARLY, unreadable, ...FAULTS], inQuery],
      [`in a form, with a ${name} that cannot be read`, 'plain', [...EARLY, unreadable, ...FAULTS], inForm],
    ]),
    [
      'in a request object',
      'signed',
      FAULTS,
      async (parameters) => await send(`/authorize?${await requestObject(parameters)}`),
    ],
  ])('%s', async (_, way, faults, ask) => {
    for (const pair of pairsOf(faults, way)) {
      const response = await ask(parametersOf(pair));
      expect(named(pair, response)).toEqual(asFirst(pair));
      const rows = pair.map(({ row }) => row);
      // An unreadable request is rejected according to the plain parameters, if they contain a registered redirect URI.
      const isPage = PAGES.has(rows[0] ?? 0) || (rows[0] === 3 && (rows[1] === 4 || rows[1] === 5));
      expect([...rows, response.status, response.location === null]).toEqual([...rows, isPage ? 400 : 303, isPage]);
      if (!isPage) expect(response.location).toContain(`error=${pair[0].code}`);
    }
  });

  test('pushed: as JSON', async () => {
    for (const pair of pairsOf(FAULTS, 'pushed')) {
      const response = await send('/oauth2/par', { method: 'POST', body: parametersOf(pair) });
      expect(named(pair, response)).toEqual(asFirst(pair));
      const { code } = pair[0];
      expect([response.status, JSON.parse(response.body).error]).toEqual([
        400,
        code === 'invalid_redirect_uri' ? 'invalid_request' : code,
      ]);
    }
  });
});

test('the limit of pending requests (row 15) is checked last: requests beyond it still report every other error', async () => {
  const good = new URLSearchParams({ ...GOOD, client_id: clientId([]) });
  for (let count = 0; count < 100; count += 1) expect((await inForm(good)).status).toBe(303);
  expect((await inForm(good)).status).toBe(429);
  const late = FAULTS.filter(({ row }) => row >= 13);
  expect(late.map(({ row }) => row)).toEqual([13, 14]);
  for (const fault of late) {
    const response = await inForm(parametersOf([fault]));
    expect([fault.row, response.status, response.location?.includes(`error=${fault.code}`)]).toEqual([
      fault.row,
      303,
      true,
    ]);
  }
});
