import fc from 'fast-check';

/** Values as in a query or a form: ASCII without spaces, mostly percent-encoded. */
export type WireText = string;

/** Values that cannot be decoded, or contain forbidden characters. */
const BROKEN = [
  ...['%00', 'a%00b', '%ff%fe', '%c0%af', '%e2%82', '%ed%a0%80', '%ed%a0%bd%ed%b2%a9', '%f4%90%80%80'],
  ...['%', '%zz', '%f', '%u0041'],
];

const ENCODED = [
  '',
  ...['%25%30%30', '+', '+++', '%20', '%0d%0aX:%201', '%0a', '%09', '%ef%bb%bf', '%ef%bf%be', '%01', '%1b[31m'],
  ...['%e2%80%ae', '%e2%80%a8', '%f0%9f%92%a9', 'e%cc%81', '%c3%a9', '%ef%bc%a1', '%7f', '%c2%85', '%f4%8f%bf%bf'],
  ...[
    '..',
    '%2e%2e',
    '..%2f..%2fetc%2fpasswd',
    '%2f%2fevil.example',
    '%5cevil.example',
    '.',
    '*',
    '**',
    '?',
    ':x',
    '{id}',
  ],
];

const TEXTS = [
  ...['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', '__proto__[x]', 'constructor.prototype'],
  ...[
    "' or '1'='1",
    "'; drop table users; --",
    '$1',
    '\\',
    '"',
    '`',
    '{{7*7}}',
    '$\u007b7*7}',
    '<svg onload=alert(1)>',
  ],
  ...[
    '"><script>alert(1)</script>',
    'javascript:alert(1)',
    'https://evil.example/',
    '//evil.example',
    'data:text/html,x',
  ],
  ...['null', 'undefined', 'true', 'NaN', '[]', '{}', '[object Object]', 'a[]', 'a[b]=c', 'a=b', 'a&b', 'a;b', 'a,b'],
  ...['-1', '0', '00', '1', '01', '1e3', '1e309', '0x1f', '1_000', ' 1', '1.5', 'Infinity', '-0', '٣'],
  ...['2147483648', '4294967296', '9007199254740993', '9223372036854775808', '99999999999999999999999999999999'],
  ...[
    'openid',
    'openid openid',
    'urn:latchkey:admin',
    'urn:chat:client:device:x',
    'none login',
    'form_post',
    'fragment',
  ],
  ...[
    'client_credentials',
    'authorization_code',
    'refresh_token',
    'password',
    'urn:ietf:params:oauth:grant-type:device_code',
  ],
  ...[
    '80000000000000000000000000',
    '00000000000000000000000000',
    '7ZZZZZZZZZZZZZZZZZZZZZZZZZ',
    'ILOU'.repeat(7).slice(0, 26),
  ],
  ...['0193f1d6-0000-7000-8000-000000000000', 'mat_0123456789ABCDEFGHIJabcdefghij_0WADMv', 'mct_x', 'syt_x_y_z'],
  ...[
    '{"userinfo":{"__proto__":{"essential":true}},"id_token":{"constructor":null}}',
    '{"id_token":{"sub":{"value":"x"},"auth_time":{"essential":true},"acr":{"values":[1,null,{}]}}}',
    '{"userinfo":{"name":null,"name":{}},"userinfo":null}',
    '{"userinfo":"\\ud800"}',
    '[['.repeat(40),
    '{"userinfo":'.repeat(40),
    'eyJhbGciOiJub25lIn0.e30.',
    'eyJhbGciOiJSUzI1NiIsImtpZCI6Il9fcHJvdG9fXyJ9.eyJzdWIiOjF9.AAAA',
  ],
  ...['@amira:example.test', 'AMIRA', 'ａｍｉｒａ', 'amira ', 'a'.repeat(256), 'x@y', 'de', 'en-US-x-private', 'xx'],
];

/** Values that do not depend on the service's state. */
export const HOSTILE_VALUES: readonly WireText[] = [...BROKEN, ...ENCODED, ...TEXTS.map(encoded)];

/** Encodes arbitrary bytes. @returns the percent-encoded text */
export function percentEncoded(bytes: Uint8Array): WireText {
  return [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

function encoded(text: string): WireText {
  return encodeURIComponent(text).replaceAll("'", '%27');
}

const long = fc
  .tuple(fc.constantFrom('a', '@', '.', '%41', '%20', '/', '%', '0'), fc.constantFrom(129, 300, 2100, 2600))
  .map(([part, count]) => part.repeat(Math.ceil(count / part.length)));

/** @param genuine currently valid values, used with one character changed */
export function hostileValue(genuine: readonly string[]): fc.Arbitrary<WireText> {
  const changed = fc
    .tuple(fc.constantFrom(...genuine), fc.nat(200), fc.constantFrom('', 'A', '%00', '%20', '_', '/'))
    .map(([value, at, part]) => {
      const index = at % value.length;
      return encoded(value.slice(0, index)) + part + encoded(value.slice(index + 1));
    });
  return fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...BROKEN) },
    { weight: 8, arbitrary: fc.constantFrom(...ENCODED) },
    { weight: 10, arbitrary: fc.constantFrom(...TEXTS).map(encoded) },
    { weight: 6, arbitrary: changed },
    { weight: 2, arbitrary: long },
    { weight: 5, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }).map(encoded) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 20 }).map(percentEncoded) },
  );
}

/** Generates mostly none or one, so that most requests pass the first checks. */
export function few<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant<T[]>([]) },
    { weight: 4, arbitrary: arbitrary.map((one) => [one]) },
    { weight: 2, arbitrary: fc.array(arbitrary, { minLength: 2, maxLength: 4 }) },
  );
}

const NAMES = [
  ...['client_id', 'redirect_uri', 'response_type', 'response_mode', 'scope', 'state', 'nonce', 'prompt', 'max_age'],
  ...['code_challenge', 'code_challenge_method', 'login_hint', 'id_token_hint', 'ui_locales', 'acr_values', 'claims'],
  ...['resource', 'request', 'request_uri', 'grant_id', 'action', 'bind', 'kind', 'id', 'device_id', 'method'],
  ...[
    'csrf',
    'username',
    'password',
    'password_confirm',
    'suggestion',
    'display_name',
    'email',
    'terms',
    'token',
    'token_type_hint',
  ],
  ...['grant_type', 'code', 'code_verifier', 'refresh_token', 'client_secret', 'client_assertion', 'access_token'],
  ...['client_assertion_type', 'rel', 'probe', 'audience', 'authorization_details', 'dpop_jkt', 'registration'],
];

export function fieldName(genuine: readonly string[]): fc.Arbitrary<WireText> {
  return fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...NAMES) }, { weight: 1, arbitrary: hostileValue(genuine) });
}

export const HEADER_NAMES = [
  ...['Accept', 'Accept-Language', 'Accept-Encoding', 'Accept-Charset', 'Authorization', 'Cache-Control', 'Date'],
  ...['Content-Encoding', 'Content-Language', 'Content-MD5', 'DPoP', 'Expect', 'Forwarded', 'From', 'If-Match', 'Via'],
  ...['If-Modified-Since', 'If-None-Match', 'If-Range', 'Origin', 'Purpose', 'Range', 'Referer', 'Sec-Fetch-Dest'],
  ...[
    'Sec-Fetch-Mode',
    'Sec-Fetch-Site',
    'Sec-Fetch-User',
    'TE',
    'Upgrade',
    'User-Agent',
    'X-Forwarded-For',
    'traceparent',
  ],
  ...[
    'X-Forwarded-Host',
    'X-Forwarded-Proto',
    'X-HTTP-Method-Override',
    'X-Original-URL',
    'X-Request-Id',
    'tracestate',
  ],
  ...['__proto__', 'constructor', 'toString', 'Access-Control-Request-Method', 'Access-Control-Request-Headers'],
];

export const HEADER_VALUES = [
  ...[
    '',
    '*',
    '*/*',
    'text/html',
    'application/json',
    'text/html;q=0.1, application/json',
    ';q=',
    'de',
    'de;q=2',
    'xx',
  ],
  ...['de-DE,de;q=0.9', '../../etc/passwd', '__proto__', 'en;q=0.000000000000001', 'gzip', 'br;q=0', 'identity;q=0'],
  ...[
    'Basic',
    'Basic !',
    'Basic Og==',
    'Bearer',
    'Bearer x',
    'Bearer  ',
    'DPoP x',
    'Digest username="x"',
    'Basic Y29sb246',
  ],
  ...[
    'document',
    'iframe',
    'same-origin',
    'cross-site',
    'none',
    'navigate',
    'null',
    'https://evil.example',
    'http://[',
  ],
  ...[
    '127.0.0.1',
    '1.2.3.4, unknown',
    '::1',
    'fe80::1%eth0',
    '[::ffff:1.2.3.4]:80',
    'for="[::1]',
    '999.1.1.1',
    '1.2.3',
  ],
  ...['bytes=0-1', 'bytes=-1', 'W/"x"', '"', '100-continue', 'x-continue', 'websocket', 'h2c', 'trailers', 'POST'],
  ...['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', '00-0-0-00', 'GET-1', '\u0085', '\u00ff\u00fe', '"\\'],
];

/** Values contain any byte that a header may contain, one character per byte. */
export function hostileHeader(): fc.Arbitrary<[name: string, value: string]> {
  const bytes = fc
    .array(fc.oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff })), { maxLength: 60 })
    .map((codes) => String.fromCharCode(...codes));
  const value = fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...HEADER_VALUES) },
    { weight: 2, arbitrary: bytes },
    { weight: 1, arbitrary: fc.constantFrom('a', ',', ';', ' x', '"', 'de,').map((part) => part.repeat(600)) },
  );
  return fc.tuple(fc.constantFrom(...HEADER_NAMES), value);
}
