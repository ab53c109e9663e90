import { describe, expect, test } from 'vitest';
import { Urls } from '#browser/urls.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import { expectLinear, timeOf } from '#test/support/measuring.ts';
import { silentLog } from '#test/support/silent-log.ts';
import { type Cookie, type CookieJar, Cookies } from './cookies.ts';

const SESSION: Cookie = { name: 'session', maxAgeSeconds: 400 * 86_400 };
const CSRF: Cookie = { name: 'csrf' };

const keys = new KeyRing(Buffer.alloc(32, 1));

function cookiesOf(publicBase = 'https://auth.example.org/', ring = keys): Cookies {
  return new Cookies({ keys: ring, address: new Urls(publicBase), log: silentLog, prefix: 'latchkey_' });
}

/** Returns `name=value` as a browser sends it back. */
function written(cookie: Cookie, value: string, cookies = cookiesOf()): string {
  const jar = cookies.jar(undefined);
  jar.set(cookie, value);
  return jar.changes()[0]?.split(';')[0] ?? '';
}

function open(jar: CookieJar, cookie: Cookie): { value: unknown; deletes: boolean } {
  const value = jar.open(cookie);
  return { value, deletes: jar.changes().some((change) => change.includes('Max-Age=0')) };
}

const ABSENT_AND_CLEARED = { value: undefined, deletes: true };
const ABSENT = { value: undefined, deletes: false };

describe('cookies (browser-flows 2.1, security R-30, S-62 to S-64)', () => {
  test.each([
    [
      'https://auth.example.org/',
      '__Host-latchkey_session=',
      '; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=34560000',
    ],
    [
      'https://example.org/auth/',
      '__Secure-latchkey_session=',
      '; Path=/auth/; HttpOnly; SameSite=Lax; Secure; Max-Age=34560000',
    ],
    ['http://localhost:8080/', 'latchkey_session=', '; Path=/; HttpOnly; SameSite=Lax; Max-Age=34560000'],
  ])('attributes and prefix follow the public base %s; no Domain', (publicBase, start, end) => {
    const jar = cookiesOf(publicBase).jar(undefined);
    jar.set(SESSION, { current: 'x' });
    const [change = ''] = jar.changes();
    expect(change.startsWith(start)).toBe(true);
    expect(change.slice(change.indexOf(';'))).toBe(end);
  });

  test('a cookie without a lifetime is a session cookie', () => {
    const jar = cookiesOf().jar(undefined);
    jar.set(CSRF, 'x');
    expect(jar.changes()[0]).not.toContain('Max-Age');
  });

  test('written values open again, among other cookies and in any order', () => {
    const header = `a=b; ${written(SESSION, 'value')};__Host-latchkey_sessions=x;x`;
    expect(open(cookiesOf().jar(header), SESSION)).toEqual({ value: 'value', deletes: false });
  });

  test('values of different requests differ and reveal nothing', () => {
    expect(written(SESSION, 'value')).not.toBe(written(SESSION, 'value'));
    expect(Buffer.from(written(SESSION, 'value').split('=')[1] ?? '', 'base64url').toString()).not.toContain('value');
  });

  test('reading a cookie set in the same request yields the new value, and nothing after clear', () => {
    const jar = cookiesOf().jar(written(SESSION, 'old'));
    jar.set(SESSION, 'new');
    expect(jar.open(SESSION)).toBe('new');
    jar.clear(SESSION);
    expect(jar.open(SESSION)).toBeUndefined();
    expect(jar.changes()).toEqual(['__Host-latchkey_session=; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=0']);
  });

  test('a flipped bit, another cookie’s value, a value of 8 KiB or garbage counts as absent and is deleted', () => {
    const value = written(SESSION, 'value').split('=')[1] ?? '';
    const bytes = Buffer.from(value, 'base64url');
    bytes[20] = (bytes[20] ?? 0) ^ 1;
    const csrfValue = written(CSRF, 'value').split('=')[1] ?? '';
    for (const forged of [bytes.toString('base64url'), csrfValue, 'A'.repeat(8192), '', '%', '"x"', '{}']) {
      expect(open(cookiesOf().jar(`__Host-latchkey_session=${forged}`), SESSION)).toEqual(ABSENT_AND_CLEARED);
    }
  });

  test('a retired key opens cookies only while it is listed', () => {
    const header = written(SESSION, 'value');
    const next = Buffer.alloc(32, 2);
    const rotated = new KeyRing(next, [Buffer.alloc(32, 1)]);
    expect(open(cookiesOf(undefined, rotated).jar(header), SESSION).value).toBe('value');
    expect(open(cookiesOf(undefined, new KeyRing(next)).jar(header), SESSION)).toEqual(ABSENT_AND_CLEARED);
  });

  test('of two cookies with one name only one that opens counts, and is not deleted for the other', () => {
    const good = written(SESSION, 'value');
    for (const header of [`${good}; __Host-latchkey_session=planted`, `__Host-latchkey_session=planted; ${good}`]) {
      expect(open(cookiesOf().jar(header), SESSION)).toEqual({ value: 'value', deletes: false });
    }
  });

  test('two cookies with one name that both open are ignored, so that a planted session is never used', () => {
    const header = `${written(SESSION, 'victim')}; ${written(SESSION, 'attacker')}`;
    expect(open(cookiesOf().jar(header), SESSION)).toEqual(ABSENT);
  });

  test('tries 200 planted cookies of one name, each at the same cost', async () => {
    const planted = '__Host-latchkey_session=QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlq; ';
    await expectLinear((size) => {
      const header = planted.repeat(size) + written(SESSION, 'value');
      return timeOf(() => expect(open(cookiesOf().jar(header), SESSION).value).toBe('value'));
    }, 200);
  });

  test('writes nothing for requests that open no cookie', () => {
    expect(cookiesOf().jar('__Host-latchkey_session=garbage').changes()).toEqual([]);
  });
});

/**
 * Returns a cookie of a browser that signed in to the first version, whose cookies were named `session`, `csrf` and so
 * on.
 */
function former(cookie: Cookie, value: string, cookies = cookiesOf()): string {
  return written(cookie, value, cookies).replace('latchkey_', '');
}

describe('cookies under the names of the first version', () => {
  test.each(['https://auth.example.org/', 'https://example.org/auth/', 'http://localhost:8080/'])(
    'below %s they are still read and copied to the current name, so that an upgrade signs no user out',
    (publicBase) => {
      const cookies = cookiesOf(publicBase);
      const header = former(SESSION, 'value', cookies);
      const jar = cookies.jar(`a=b; ${header}`);
      expect(jar.open(SESSION)).toBe('value');
      const [copied = '', ...others] = jar.changes();
      expect(others).toEqual([]);
      const [pair = '', ...attributes] = copied.split('; ');
      expect(pair).toBe(written(SESSION, 'value', cookies).split('=')[0] + header.slice(header.indexOf('=')));
      expect(attributes).toContain('Max-Age=34560000');
      expect(open(cookies.jar(`${header}; ${pair}`), SESSION)).toEqual({ value: 'value', deletes: false });
    },
  );

  test.each(['set', 'clear'] as const)(
    '%s deletes the cookie of the old name, which would restore an old value',
    (method) => {
      const jar = cookiesOf().jar(former(SESSION, 'old'));
      jar.open(SESSION);
      if (method === 'set') jar.set(SESSION, 'new');
      else jar.clear(SESSION);
      expect(jar.changes()).toHaveLength(2);
      expect(jar.changes()[1]).toBe('__Host-session=; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=0');
    },
  );

  test('the current name wins, whatever the old one contains', () => {
    const header = `${former(SESSION, 'old')}; ${written(SESSION, 'value')}`;
    expect(open(cookiesOf().jar(header), SESSION)).toEqual({ value: 'value', deletes: false });
    const garbage = `${former(SESSION, 'old')}; __Host-latchkey_session=x`;
    expect(open(cookiesOf().jar(garbage), SESSION)).toEqual(ABSENT_AND_CLEARED);
  });

  test('ignores a cookie `session` of another program on the same host', () => {
    const cookies = cookiesOf('http://localhost:8080/');
    const jar = cookies.jar('session=eyJfcGVybWFuZW50Ijp0cnVlfQ.Zx.flask; csrf=django');
    expect(jar.open(SESSION)).toBeUndefined();
    expect(jar.open(CSRF)).toBeUndefined();
    jar.set(SESSION, 'value');
    jar.clear(CSRF);
    expect(jar.changes().map((change) => change.split('=')[0])).toEqual(['latchkey_session', 'latchkey_csrf']);
  });

  test('ignores both when two open', () => {
    const header = `${former(SESSION, 'victim')}; ${former(SESSION, 'attacker')}`;
    expect(open(cookiesOf().jar(header), SESSION)).toEqual(ABSENT);
  });
});
