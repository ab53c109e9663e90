import { describe, expect, test } from 'vitest';
import { Urls } from '#browser/urls.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import { expectLinear, timeOf } from '#test/support/measuring.ts';
import { silentLog } from '#test/support/silent-log.ts';
import { type CookieJar, type CookieName, Cookies } from './cookies.ts';

const keys = new KeyRing(Buffer.alloc(32, 1));

function cookiesOf(publicBase = 'https://auth.example.org/', ring = keys): Cookies {
  return new Cookies({ keys: ring, address: new Urls(publicBase), log: silentLog });
}

/** `name=value` as a browser sends it back. */
function written(name: CookieName, value: string, cookies = cookiesOf()): string {
  const jar = cookies.jar(undefined);
  jar.set(name, value);
  return jar.changes()[0]?.split(';')[0] ?? '';
}

function open(jar: CookieJar, name: CookieName): { value: unknown; deletes: boolean } {
  const value = jar.open(name);
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
    jar.set('session', { current: 'x' });
    const [change = ''] = jar.changes();
    expect(change.startsWith(start)).toBe(true);
    expect(change.slice(change.indexOf(';'))).toBe(end);
  });

  test('a cookie without a lifetime of its own ends with the browser; a lifetime can be given', () => {
    const jar = cookiesOf().jar(undefined);
    jar.set('csrf', 'x');
    expect(jar.changes()[0]).not.toContain('Max-Age');
    jar.set('csrf', 'x', { maxAgeSeconds: 5 });
    expect(jar.changes()).toHaveLength(1);
    expect(jar.changes()[0]).toContain('; Max-Age=5');
  });

  test('what was written opens again, among other cookies and in any order', () => {
    const header = `a=b; ${written('session', 'value')};__Host-latchkey_sessions=x;x`;
    expect(open(cookiesOf().jar(header), 'session')).toEqual({ value: 'value', deletes: false });
  });

  test('values of different requests differ and reveal nothing', () => {
    expect(written('session', 'value')).not.toBe(written('session', 'value'));
    expect(Buffer.from(written('session', 'value').split('=')[1] ?? '', 'base64url').toString()).not.toContain('value');
  });

  test('reading what was set in the same request yields the new value, and nothing after clear', () => {
    const jar = cookiesOf().jar(written('session', 'old'));
    jar.set('session', 'new');
    expect(jar.open('session')).toBe('new');
    jar.clear('session');
    expect(jar.open('session')).toBeUndefined();
    expect(jar.changes()).toEqual(['__Host-latchkey_session=; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=0']);
  });

  test('a flipped bit, another cookie’s value, a value of 8 KiB or garbage counts as absent and is deleted', () => {
    const value = written('session', 'value').split('=')[1] ?? '';
    const bytes = Buffer.from(value, 'base64url');
    bytes[20] = (bytes[20] ?? 0) ^ 1;
    const csrfValue = written('csrf', 'value').split('=')[1] ?? '';
    for (const forged of [bytes.toString('base64url'), csrfValue, 'A'.repeat(8192), '', '%', '"x"', '{}']) {
      expect(open(cookiesOf().jar(`__Host-latchkey_session=${forged}`), 'session')).toEqual(ABSENT_AND_CLEARED);
    }
  });

  test('a retired key opens while it is listed, and not after', () => {
    const header = written('session', 'value');
    const next = Buffer.alloc(32, 2);
    const rotated = new KeyRing(next, [Buffer.alloc(32, 1)]);
    expect(open(cookiesOf(undefined, rotated).jar(header), 'session').value).toBe('value');
    expect(open(cookiesOf(undefined, new KeyRing(next)).jar(header), 'session')).toEqual(ABSENT_AND_CLEARED);
  });

  test('of two cookies of one name only one that opens counts, and ours is not deleted for the other', () => {
    const good = written('session', 'value');
    for (const header of [`${good}; __Host-latchkey_session=planted`, `__Host-latchkey_session=planted; ${good}`]) {
      expect(open(cookiesOf().jar(header), 'session')).toEqual({ value: 'value', deletes: false });
    }
  });

  test('two that both open: none counts, so that a planted session is never used', () => {
    const header = `${written('session', 'victim')}; ${written('session', 'attacker')}`;
    expect(open(cookiesOf().jar(header), 'session')).toEqual(ABSENT);
  });

  test('200 planted cookies of one name are tried, each at the same cost', async () => {
    const planted = '__Host-latchkey_session=QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlq; ';
    await expectLinear((size) => {
      const header = planted.repeat(size) + written('session', 'value');
      return timeOf(() => expect(open(cookiesOf().jar(header), 'session').value).toBe('value'));
    }, 200);
  });

  test('nothing is written for requests that open no cookie', () => {
    expect(cookiesOf().jar('__Host-latchkey_session=garbage').changes()).toEqual([]);
  });
});

/** As a browser holds it that signed in at the first version, whose cookies were called `session`, `csrf` and so on. */
function former(name: CookieName, value: string, cookies = cookiesOf()): string {
  return written(name, value, cookies).replace('latchkey_', '');
}

describe('cookies under the names of the first version', () => {
  test.each(['https://auth.example.org/', 'https://example.org/auth/', 'http://localhost:8080/'])(
    'below %s they still count and are copied to the present name, so that an upgrade signs nobody out',
    (publicBase) => {
      const cookies = cookiesOf(publicBase);
      const header = former('session', 'value', cookies);
      const jar = cookies.jar(`a=b; ${header}`);
      expect(jar.open('session')).toBe('value');
      const [copied = '', ...others] = jar.changes();
      expect(others).toEqual([]);
      const [pair = '', ...attributes] = copied.split('; ');
      expect(pair).toBe(written('session', 'value', cookies).split('=')[0] + header.slice(header.indexOf('=')));
      expect(attributes).toContain('Max-Age=34560000');
      expect(open(cookies.jar(`${header}; ${pair}`), 'session')).toEqual({ value: 'value', deletes: false });
    },
  );

  test.each(['set', 'clear'] as const)('%s deletes the former one, which would bring an old value back', (method) => {
    const jar = cookiesOf().jar(former('session', 'old'));
    jar.open('session');
    if (method === 'set') jar.set('session', 'new');
    else jar.clear('session');
    expect(jar.changes()).toHaveLength(2);
    expect(jar.changes()[1]).toBe('__Host-session=; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=0');
  });

  test('the present name wins, whatever stands under the former one', () => {
    const header = `${former('session', 'old')}; ${written('session', 'value')}`;
    expect(open(cookiesOf().jar(header), 'session')).toEqual({ value: 'value', deletes: false });
    const garbage = `${former('session', 'old')}; __Host-latchkey_session=x`;
    expect(open(cookiesOf().jar(garbage), 'session')).toEqual(ABSENT_AND_CLEARED);
  });

  test('a cookie called `session` of another program on the same host is left alone', () => {
    const cookies = cookiesOf('http://localhost:8080/');
    const jar = cookies.jar('session=eyJfcGVybWFuZW50Ijp0cnVlfQ.Zx.flask; csrf=django');
    expect(jar.open('session')).toBeUndefined();
    expect(jar.open('csrf')).toBeUndefined();
    jar.set('session', 'value');
    jar.clear('csrf');
    expect(jar.changes().map((change) => change.split('=')[0])).toEqual(['latchkey_session', 'latchkey_csrf']);
  });

  test('two that both open: none counts', () => {
    const header = `${former('session', 'victim')}; ${former('session', 'attacker')}`;
    expect(open(cookiesOf().jar(header), 'session')).toEqual(ABSENT);
  });
});
