import fc from 'fast-check';
import type { Route } from '#platform/http/route.ts';
import { DEVICE_CODE_GRANT_TYPE } from '#protocol/oauth/client-metadata.ts';
import {
  basic,
  C1,
  CHALLENGE,
  HOMESERVER_SECRET,
  P1,
  PASSWORD,
  SIGNED_OUT,
  VERIFIER,
} from '../attacks/attacked-service.ts';
import type { RawRequest } from '../attacks/raw-http.ts';
import { few, fieldName, hostileHeader, hostileValue, type WireText } from './hostile-values.ts';

/** The service's state that the requests are built from. */
export interface Surroundings {
  readonly routes: readonly Route[];
  /** `Cookie` headers of ended sessions. */
  readonly deadCookies: readonly string[];
  /** Existing tokens, IDs and URLs. */
  readonly genuine: readonly string[];
  /** The non-secret ones, which may be part of a logged path. */
  readonly ids: readonly string[];
}

export interface HostileRequest extends RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Placeholders for values that change during the test. The sender replaces them by the current values. */
export const PLACEHOLDERS = {
  /** Cookies of a signed-in user. */
  cookies: 'SOUND-COOKIES',
  /** CSRF token of that session. */
  csrf: 'RIGHT-TOKEN',
  /** A grant of that user that waits for consent. */
  grantId: 'WAITING-GRANT',
} as const;

type Field = readonly [name: string, value: WireText];

/** Optional parameters of an authorization request. */
const VOLUNTARY: readonly Field[] = [
  ['acr_values', 'urn%3Alatchkey%3Aacr%3A1'],
  ['claims', encodeURIComponent('{"userinfo":{"email":{"essential":true}},"id_token":{"auth_time":null}}')],
  ['claims_locales', 'de'],
  ['display', 'page'],
  ['id_token_hint', 'x'],
  ['login_hint', 'amira'],
  ['max_age', '3600'],
  ['nonce', 'n'],
  ['prompt', 'consent'],
  ['response_mode', 'query'],
  ['ui_locales', 'de'],
];

/** Forms that would be accepted unchanged, so that hostile values pass the first checks. */
export function acceptableForms(path: string): readonly (readonly Field[])[] {
  const csrf = ['csrf', PLACEHOLDERS.csrf] as const;
  const uri = encodeURIComponent(C1.callback);
  const password = encodeURIComponent(PASSWORD);
  const asking: Field[] = [
    ['client_id', C1.id],
    ['redirect_uri', uri],
    ['response_type', 'code'],
    ['scope', 'openid'],
    ['state', 'st'],
  ];
  switch (path) {
    case '/authorize':
      return [asking, [...asking, ...VOLUNTARY], [csrf, ['grant_id', PLACEHOLDERS.grantId], ['action', 'consent']]];
    case '/login':
      return [[csrf, ['username', 'amira'], ['password', password]]];
    case '/reauth':
      return [[csrf, ['method', 'password'], ['password', password]]];
    case '/upstream/callback/:id':
      return [
        [
          ['code', 'x'],
          ['state', 'y'],
        ],
        [
          ['error', 'access_denied'],
          ['state', 'y'],
          ['reposted', '1'],
        ],
      ];
    case '/upstream/backchannel-logout/:id':
      return [[['logout_token', 'eyJhbGciOiJSUzI1NiJ9.e30.AA']]];
    case '/upstream/link/:id':
      return [[csrf, ['action', 'login']]];
    case '/recover':
      return [[csrf, ['email', 'amira@mail.example']]];
    case '/register/password':
      return [[csrf, ['username', 'zora'], ['password', password]]];
    case '/oauth2/token':
      return [
        [['grant_type', 'client_credentials']],
        [
          ['grant_type', 'refresh_token'],
          ['refresh_token', 'x'],
        ],
        [
          ['grant_type', 'authorization_code'],
          ['code', 'x'],
          ['redirect_uri', uri],
          ['code_verifier', VERIFIER],
        ],
        [
          ['grant_type', DEVICE_CODE_GRANT_TYPE],
          ['device_code', CHALLENGE],
        ],
      ];
    case '/oauth2/device':
      return [
        [
          ['client_id', P1.id],
          ['scope', 'openid'],
        ],
      ];
    case '/link':
      return [[csrf, ['code', 'BCDF-GHJK']]];
    case '/device/:device_code_id':
      return [[csrf, ['action', 'consent'], ['confirm_device', 'on']]];
    case '/logout':
      return [[csrf], [csrf, ['logout_request', 'x']]];
    case '/oauth2/logout':
      return [
        [
          ['client_id', C1.id],
          ['post_logout_redirect_uri', encodeURIComponent(SIGNED_OUT)],
          ['state', 'st'],
          ['ui_locales', 'de'],
        ],
        [['client_id', C1.id]],
        [['id_token_hint', 'x']],
        [['request', 'x']],
      ];
    case '/oauth2/introspect':
    case '/oauth2/revoke':
      return [
        [
          ['token', 'x'],
          ['token_type_hint', 'access_token'],
        ],
      ];
    case '/oauth2/userinfo':
      return [[['access_token', 'x']]];
    case '/.well-known/webfinger':
      return [[['resource', 'acct:x@example.test']]];
    default:
      return [[csrf]];
  }
}

const OTHER_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'FROB', 'get'];

const CONTENT_TYPES = [
  ...['application/json', 'text/plain', 'multipart/form-data; boundary=x', '', 'application/x-www-form-urlencoded;'],
  ...['application/x-www-form-urlencoded; charset=utf-16', 'APPLICATION/X-WWW-FORM-URLENCODED; charset="UTF-8"', 'x'],
];

/** Generates a well-formed HTTP request with hostile content for one of the routes. */
export function hostileRequest(surroundings: Surroundings): fc.Arbitrary<HostileRequest> {
  const { routes, genuine } = surroundings;
  const value = hostileValue(genuine);
  const pairs = few(fc.tuple(fieldName(genuine), value));
  return fc
    .record({
      route: fc.constantFrom(...routes),
      otherMethod: seldom(fc.constantFrom(...OTHER_METHODS), 6),
      segment: fc.oneof(
        { weight: 4, arbitrary: hostileValue(surroundings.ids) },
        { weight: 1, arbitrary: fc.constantFrom(PLACEHOLDERS.grantId, ...surroundings.ids) },
      ),
      isPathSpoilt: fc.boolean(),
      query: pairs,
      form: fc.nat(5),
      changes: pairs,
      contentType: seldom(fc.constantFrom(...CONTENT_TYPES), 12),
      rawBody: seldom(fc.uint8Array({ maxLength: 200 }), 15),
      cookie: cookieHeader(surroundings),
      authorization: fc.constantFrom(undefined, undefined, basic(C1), `Bearer ${HOMESERVER_SECRET}`),
      headers: few(hostileHeader()),
    })
    .map((parts): HostileRequest => {
      const { route } = parts;
      const method = parts.otherMethod ?? route.method;
      const forms = acceptableForms(route.path);
      const fields = changed(forms[parts.form % forms.length] ?? [], parts.changes);
      const isInBody = !['GET', 'HEAD', 'OPTIONS', 'TRACE'].includes(method.toUpperCase());
      const path = targetPath(route.path, parts);
      const query = [...parts.query, ...(isInBody ? [] : fields)];
      // The HTTP parser rejects longer heads, so they would not reach a route.
      const target = (query.length === 0 ? path : `${path}?${written(query)}`).slice(0, 8100);
      const headers: [string, string][] = parts.headers.map(([name, text]) => [name, text]);
      if (parts.cookie !== undefined) headers.push(['Cookie', parts.cookie]);
      if (parts.authorization !== undefined) headers.push(['Authorization', parts.authorization]);
      if (!isInBody) return { method, path, target, headers };
      headers.push(['Content-Type', parts.contentType ?? 'application/x-www-form-urlencoded']);
      const body = parts.rawBody === undefined ? written(fields) : Buffer.from(parts.rawBody);
      return { method, path, target, headers, body };
    });
}

/** Generates a value once in `oneIn` cases. */
function seldom<T>(arbitrary: fc.Arbitrary<T>, oneIn: number): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: oneIn - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
}

function cookieHeader({ deadCookies, genuine }: Surroundings): fc.Arbitrary<string | undefined> {
  const sound = fc.constant(PLACEHOLDERS.cookies);
  const dead = fc.constantFrom(...deadCookies);
  const spoilt = fc
    .tuple(dead, fc.nat(400), fc.constantFrom('A', '', '=', '; ', '%00', '"'))
    .map(([text, at, part]) => {
      const index = at % text.length;
      return text.slice(0, index) + part + text.slice(index + 1);
    });
  const name = fc.constantFrom('session', 'csrf', 'known', 'grants', 'lang', 'login', 'registrations', '__proto__');
  const made = fc
    .array(fc.tuple(name, hostileValue(genuine)), { minLength: 1, maxLength: 4 })
    .map((pairs) => pairs.map(([key, text]) => `__Host-latchkey_${key}=${text}`).join('; '));
  const doubled = fc.tuple(fc.oneof(sound, dead), fc.oneof(dead, made)).map(([one, other]) => `${one}; ${other}`);
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant(undefined) },
    { weight: 8, arbitrary: sound },
    { weight: 2, arbitrary: dead },
    { weight: 1, arbitrary: spoilt },
    { weight: 1, arbitrary: made },
    { weight: 1, arbitrary: doubled },
  );
}

function targetPath(pattern: string, parts: { readonly segment: WireText; readonly isPathSpoilt: boolean }): string {
  const filled = pattern.replaceAll(/:\w+|\*/g, () => parts.segment);
  if (filled !== pattern || !parts.isPathSpoilt) return filled;
  // Most requests to a path without parameters should still match the route.
  return parts.segment.length % 5 === 0 ? `${filled}/${parts.segment}` : filled;
}

/** Replaces fields by name and adds the rest. */
function changed(fields: readonly Field[], changes: readonly Field[]): Field[] {
  const names = new Set(changes.map(([name]) => name));
  return [...fields.filter(([name]) => !names.has(name)), ...changes];
}

export function written(fields: readonly Field[]): string {
  return fields.map(([name, value]) => `${name}=${value}`).join('&');
}

/** Generates bytes that start as requests and are then corrupted: truncated, duplicated, overwritten or merged. */
export function spoiltBytes(requests: readonly Buffer[]): fc.Arbitrary<Buffer> {
  const piece = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 6 }).map((bytes) => Buffer.from(bytes)),
    fc
      .constantFrom(
        ...['\r', '\n', '\r\n', '\r\n\r\n', '\0', ' ', '\t', ':', '%', '#', '?', '\x0b', '\x85', ';', ',', '\r\n '],
        ...['Content-Length: 5\r\n', 'Transfer-Encoding: chunked\r\n', 'Host: y\r\n', 'Connection: keep-alive\r\n'],
        ...['Expect: 100-continue\r\n', '0\r\n\r\n', 'ffffffffffffffff\r\n', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
      )
      .map((text) => Buffer.from(text, 'latin1')),
  );
  const change = fc.record({ at: fc.nat(400), removed: fc.nat(12), piece });
  return fc
    .tuple(fc.constantFrom(...requests), fc.array(change, { minLength: 1, maxLength: 3 }))
    .map(([request, changes]) =>
      changes.reduce((bytes, { at, removed, piece: inserted }) => {
        const index = at % bytes.length;
        return Buffer.concat([bytes.subarray(0, index), inserted, bytes.subarray(index + removed)]);
      }, request),
    );
}
