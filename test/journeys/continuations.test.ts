/** Where users continue after sign-in, reauthentication or registration (browser-flows 2.4). */
import { beforeAll, describe, expect, test } from 'vitest';

import { insertTestAccount } from '../support/accounts.ts';
import type { Browser, Page } from '../support/browser.ts';
import { createTestDatabase } from '../support/database.ts';
import { startPages } from '../support/page-service.ts';
import { openEstimator, registerCompletely } from '../support/registering.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';

const ORIGIN = 'https://auth.example.org';
const PASSWORD = 'correct horse battery staple';
const ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
let users = 0;

const testDatabase = await sharedByTests(createTestDatabase());
const estimator = await sharedByTests(openEstimator());
const service = await sharedByTests(startPages(testDatabase.database, { registration: { estimator } }));

beforeAll(async () => {
  await insertTestAccount(testDatabase.database, { username: 'amira', password: PASSWORD });
});

async function login(query: string, browser: Browser = service.browser()): Promise<Page> {
  await browser.get(`/login${query}`);
  return await browser.submit({ username: 'amira', password: PASSWORD });
}

const WAYS: readonly (readonly [way: string, prove: (query: string) => Promise<Page>])[] = [
  ['login', (query) => login(query)],
  [
    'reauth',
    async (query) => {
      const browser = service.browser();
      await login('', browser);
      await browser.get(`/reauth${query}`);
      const form = browser.page.forms.find(({ action }) => action.startsWith('/reauth')) ?? expect.fail('no form');
      return await browser.submit({ password: PASSWORD }, { action: form.action });
    },
  ],
  [
    'register',
    async (query) => {
      users += 1;
      return await registerCompletely(service.browser(), `newcomer${users}`, query);
    },
  ],
];

/** The specified continuations, and values that are not continuations. */
const TARGETS = [
  [`?kind=continue_authorization_grant&id=${ID}`, `/authorize/${ID}`],
  [`?kind=continue_device_code_grant&id=${ID.toLowerCase()}`, `/device/${ID}`],
  [`?kind=continue_compat_sso_login&id=${ID}`, `/complete-compat-sso/${ID}`],
  ['?kind=change_password', '/account/password/change'],
  [`?kind=link_upstream&id=${ID}`, `/upstream/link/${ID}`],
  ['?kind=manage_account', '/account/'],
  ['?kind=manage_account&action=profile', '/account/?action=profile'],
  ['?kind=manage_account&action=org.chat.profile', '/account/?action=org.chat.profile'],
  [
    '?kind=manage_account&action=session_view&device_id=A%20%2FB%26',
    '/account/?action=session_view&device_id=A%20%2FB%26',
  ],
  ['?kind=manage_account&action=session_view', '/account/'],
  ['?kind=manage_account&action=//evil.example', '/account/'],
  ['', '/'],
  ['?kind=elsewhere', '/'],
  ['?kind=continue_authorization_grant', '/'],
  ['?kind=continue_authorization_grant&id=nonsense', '/'],
  ['?kind=link_upstream&id=//evil.example', '/'],
  ['?kind=change_password&kind=change_password', '/'],
  [`?kind=link_upstream&id=${ID}&id=${ID}`, '/'],
] as const;

describe.each(WAYS)('after %s (browser-flows 15.4)', (_, prove) => {
  test.each(TARGETS)('%j continues to %s', async (query, target) => {
    const page = await prove(query);
    expect([page.status, page.location]).toEqual([303, ORIGIN + target]);
  });
});
