/** Users who switch accounts while an application waits for them (browser-flows 9.1, 3.3). */
import { beforeAll, describe, expect, test } from 'vitest';
import {
  authorizeUrl,
  grantIdOf,
  PASSWORD,
  responseOf,
  startAuthorizationService,
} from '#test/support/authorization-service.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const testDatabase = await sharedByTests(createTestDatabase());
const service = await sharedByTests(startAuthorizationService(testDatabase.database));

beforeAll(async () => {
  for (const name of ['alice', 'bob']) await service.person(name);
});

describe('the button for another account on the consent page', () => {
  test('signs out, and asks about the same request for the account that signs in next', async () => {
    const browser = await service.signedIn('alice');
    await browser.open(authorizeUrl(await service.client(), { scope: 'openid profile' }));
    const grantId = grantIdOf(browser.page);
    expect(browser.page.text).toContain('alice');
    const out = await browser.submit({}, { action: '/logout' });
    expect([out.status, new URL(out.location ?? '').pathname]).toEqual([303, `/authorize/${grantId}`]);
    const login = await browser.follow();
    expect(new URL(login.url).search).toContain(`kind=continue_authorization_grant&id=${grantId}`);
    await browser.submit({ username: 'bob', password: PASSWORD });
    const page = await browser.follow();
    expect([grantIdOf(page), page.text.includes('bob'), page.text.includes('alice')]).toEqual([grantId, true, false]);
    await browser.submit({ action: 'consent' }, { action: '/authorize' });
    expect(responseOf(browser.page)['code']).toMatch(/^[\w-]{43}$/);
    const [row] = await sql<{ username: string }>(
      testDatabase.database,
      `select u.username from oauth2_authorization_grants g
         join user_sessions s on s.id = g.user_session_id join users u on u.id = s.user_id`,
    );
    expect(row?.username).toBe('bob');
  });
});
