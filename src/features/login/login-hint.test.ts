/** The username that an application suggests for sign-in (browser-flows 3.2.1). */
import { describe, expect, test } from 'vitest';
import { createTestDatabase } from '#test/support/database.ts';
import { startPages } from '#test/support/page-service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const testDatabase = await sharedByTests(createTestDatabase());
const service = await sharedByTests(startPages(testDatabase.database));
const withoutEmail = await sharedByTests(startPages(testDatabase.database, { isEmailAllowed: false }));

async function proposed(hint: string, at = service): Promise<string | undefined> {
  const { forms } = await at.browser().get(`/login?login_hint=${encodeURIComponent(hint)}`);
  return forms[0]?.inputs.get('username');
}

describe('login_hint at /login', () => {
  test.each([
    ['amira', 'amira'],
    ['mxid:@amira:example.org', 'amira'],
    ['amira@mail.example', 'amira@mail.example'],
    ['mxid:@amira:elsewhere.example', ''],
    ['mxid:amira', ''],
    ['+49 30 1234', ''],
    ['"><script>alert(1)</script>', ''],
    ['a'.repeat(257), ''],
    ['', ''],
  ])('%.40j suggests %j', async (hint, name) => {
    expect(await proposed(hint)).toBe(name);
  });

  test('suggests no email address where it cannot be used to sign in', async () => {
    expect(await proposed('amira@mail.example', withoutEmail)).toBe('');
    expect(await proposed('amira', withoutEmail)).toBe('amira');
  });

  test('never overrides the entered name', async () => {
    const browser = service.browser();
    await browser.get('/login?login_hint=amira');
    await browser.submit({ username: 'bruno', password: 'wrong' });
    expect(browser.page.forms[0]?.inputs.get('username')).toBe('bruno');
  });
});
