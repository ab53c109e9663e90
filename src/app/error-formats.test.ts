import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadTranslations } from '#browser/i18n/load-translations.ts';
import { Pages } from '#browser/pages.ts';
import { Urls } from '#browser/urls.ts';
import { type ErrorCode, LatchkeyError, type LatchkeyErrorOptions } from '#platform/base/errors.ts';
import { packageRoot } from '#platform/base/package-root.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import { Cookies } from '#platform/http/cookies.ts';
import type { FailedRequest } from '#platform/http/error-format.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import type { ErrorFormat } from '#platform/http/route.ts';
import { silentLog } from '#test/support/silent-log.ts';
import { ERRORS } from '#vocabulary/errors.ts';
import { createErrorFormats } from './error-formats.ts';

const ISSUER = 'https://auth.example.test/';
const urls = new Urls(ISSUER);
const site = { serviceName: 'Test', indexPath: urls.index(), assetPath: (name: string) => `/assets/${name}` };
const pages = new Pages({ site, catalog: loadTranslations(), defaultLanguage: 'en' });
const formats = createErrorFormats({ issuer: ISSUER, pages, urls });
const cookies = new Cookies({
  keys: new KeyRing(Buffer.alloc(32)),
  address: urls,
  log: silentLog,
  prefix: 'latchkey_',
});

function render(
  format: ErrorFormat,
  code: ErrorCode,
  options: LatchkeyErrorOptions = {},
  headers: FailedRequest['headers'] = {},
): HttpResponse {
  const failed = { requestId: 'GET-17', headers, cookies: cookies.jar(undefined), reopenHref: '/login?kind=x' };
  return formats[format].render(new LatchkeyError(code, options), failed);
}

function bodyOf(response: HttpResponse): unknown {
  return JSON.parse(String(response.body));
}

/** Published error codes. Codes may be added; the status and text of these are public. */
const PUBLISHED = [
  ['access_denied', 403, 'Not allowed', 'home', 400, 'access_denied', undefined],
  ['already_used', 409, 'Already used', 'home', 400, 'invalid_grant', undefined],
  ['body_too_large', 413, 'Request too large', 'home', 413, 'invalid_request', undefined],
  ['cross_site_request', 403, 'The form was not accepted', 'form', 403, 'access_denied', undefined],
  ['csrf_mismatch', 403, 'The form was not accepted', 'form', 403, 'access_denied', undefined],
  ['csrf_missing', 403, 'The form was not accepted', 'form', 403, 'access_denied', undefined],
  ['embedding_refused', 403, undefined, undefined, 403, 'access_denied', undefined],
  ['expired', 410, 'Request expired', 'home', 400, 'invalid_grant', undefined],
  ['headers_too_large', 431, 'Request too large', 'home', 431, 'invalid_request', undefined],
  ['insufficient_scope', 403, 'Not allowed', 'home', 403, 'insufficient_scope', 'Bearer'],
  ['internal', 500, 'Something went wrong', 'retry', 500, 'server_error', undefined],
  ['invalid_client', 400, 'Invalid request', 'home', 401, 'invalid_client', 'Basic'],
  ['invalid_grant', 400, 'Invalid request', 'home', 400, 'invalid_grant', undefined],
  ['invalid_redirect_uri', 400, 'Invalid request', 'home', 400, 'invalid_redirect_uri', undefined],
  ['invalid_request', 400, 'Invalid request', 'home', 400, 'invalid_request', undefined],
  ['invalid_scope', 400, 'Invalid request', 'home', 400, 'invalid_scope', undefined],
  ['invalid_target', 400, 'Invalid request', 'home', 400, 'invalid_target', undefined],
  ['invalid_token', 401, 'Not allowed', 'home', 401, 'invalid_token', 'Bearer'],
  ['malformed_request', 400, 'Invalid request', 'home', 400, 'invalid_request', undefined],
  ['method_not_allowed', 405, 'Not possible here', 'home', 405, 'method_not_allowed', undefined],
  ['not_found', 404, 'Page not found', 'home', 404, 'not_found', undefined],
  ['overloaded', 503, 'Temporarily unavailable', 'retry', 503, 'temporarily_unavailable', undefined],
  ['rate_limited', 429, 'Please wait', 'retry', 429, 'temporarily_unavailable', undefined],
  ['registration_closed', 410, 'Registration is closed', 'home', 403, 'access_denied', undefined],
  ['registration_expired', 410, 'Registration expired', 'home', 400, 'invalid_request', undefined],
  ['registration_not_found', 404, 'Registration not found', 'home', 400, 'invalid_request', undefined],
  ['registration_outdated', 410, 'Please start over', 'home', 400, 'invalid_request', undefined],
  ['request_line_too_long', 414, 'Request too large', 'home', 414, 'invalid_request', undefined],
  ['request_timeout', 408, 'The request took too long', 'retry', 408, 'invalid_request', undefined],
  ['temporarily_unavailable', 503, 'Temporarily unavailable', 'retry', 503, 'temporarily_unavailable', undefined],
  ['unauthorized_client', 400, 'Invalid request', 'home', 400, 'unauthorized_client', undefined],
  ['unsupported_grant_type', 400, 'Invalid request', 'home', 400, 'unsupported_grant_type', undefined],
  ['unsupported_media_type', 415, 'Invalid request', 'home', 415, 'invalid_request', undefined],
  ['unsupported_token_type', 400, 'Invalid request', 'home', 400, 'unsupported_token_type', undefined],
] as const satisfies readonly (readonly [
  code: ErrorCode,
  pageStatus: number,
  title: string | undefined,
  link: 'home' | 'form' | 'retry' | undefined,
  oauthStatus: number,
  oauthError: string,
  challenge: 'Basic' | 'Bearer' | undefined,
])[];

const DESCRIPTIONS: ReadonlyMap<ErrorCode, string> = new Map([
  ['body_too_large', 'the request body is too large'],
  ['headers_too_large', 'the request headers are too large'],
  ['internal', 'internal error, reference GET-17'],
  ['method_not_allowed', 'the endpoint does not support this method; the Allow header lists the supported ones'],
  ['not_found', 'no endpoint exists at this URL'],
  ['overloaded', 'too many concurrent requests; retry later'],
  ['rate_limited', 'too many requests; retry later'],
  ['request_line_too_long', 'the request target is too long'],
  ['request_timeout', 'the request took too long to arrive'],
  ['temporarily_unavailable', 'the service is temporarily unavailable; retry later'],
]);

const LINKS = {
  home: '<a class="button button-primary" href="/">Go to the home page</a>',
  form: '<a class="button button-primary" href="https://auth.example.test/login?kind=x">Open the form</a>',
  retry: '<a class="button button-primary" href="/login?kind=x">Retry</a>',
};

describe.each(PUBLISHED)('%s', (code, pageStatus, title, link, oauthStatus, oauthError, challenge) => {
  const description = DESCRIPTIONS.get(code);

  test('as oauth-json', () => {
    const response = render('oauth-json', code);
    const challenges = {
      Basic: { 'www-authenticate': `Basic realm="${ISSUER}"` },
      Bearer: { 'www-authenticate': `Bearer realm="${ISSUER}", error="${oauthError}"` },
    };
    expect({ ...response, body: bodyOf(response) }).toEqual({
      status: oauthStatus,
      headers: {
        'content-type': 'application/json',
        'cache-control': 'no-store',
        pragma: 'no-cache',
        ...(challenge === undefined ? {} : challenges[challenge]),
      },
      body: { error: oauthError, ...(description !== undefined && { error_description: description }) },
    });
  });

  test('as plain-json', () => {
    const response = render('plain-json', code);
    expect({ ...response, body: bodyOf(response) }).toEqual({
      status: pageStatus,
      headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
      body: {
        error: code,
        ...(description !== undefined && { error_description: description }),
        request_id: 'GET-17',
      },
    });
  });

  test('as page', () => {
    const response = render('page', code);
    expect(response.status).toBe(pageStatus);
    expect(response.headers['cache-control']).toBe('no-store');
    if (title === undefined || link === undefined) {
      expect(response.body).toBeUndefined();
      return;
    }
    const page = String(response.body);
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page).toContain(`<title>${title} – Test</title>`);
    expect(page).toContain(`data-error-code="${code}"`);
    expect(page).toContain('<code>GET-17</code>');
    expect(page).toContain(LINKS[link]);
  });

  test('as page, requested as JSON', () => {
    const asJson = render('page', code, {}, { accept: 'application/json' });
    if (title === undefined) expect(asJson.body).toBeUndefined();
    else expect(asJson).toEqual(render('plain-json', code));
  });
});

describe.each(Object.keys(formats).filter((name): name is ErrorFormat => name in formats))(
  'every error as %s',
  (format) => {
    test('has the headers of the exception, and Retry-After', () => {
      const { headers } = render(format, 'invalid_token', { headers: { Allow: 'GET' }, retryAfterSeconds: 7 });
      expect(headers).toMatchObject({ allow: 'GET', 'retry-after': '7', 'cache-control': 'no-store' });
    });

    test('reveals its cause and details only in the log', () => {
      const cause = new Error('the cause');
      const { body } = render(format, 'temporarily_unavailable', { cause, details: { host: 'a detail' } });
      expect(String(body)).not.toMatch(/the cause|a detail/);
    });
  },
);

test('the manual lists exactly the codes of the registry, each with its kind and status', () => {
  const manual = readFileSync(join(packageRoot, 'docs/reference/error-codes.md'), 'utf8');
  const [codes = ''] = manual.split('## Forms');
  const listed = [...codes.matchAll(/^\| `(\w+)` \| (\w+) \| (\d+) /gm)].map((row) => row.slice(1).join(' '));
  const registered = Object.entries(ERRORS).map(([code, { kind, status }]) => `${code} ${kind} ${status}`);
  expect(listed).toEqual(registered.toSorted());
});
