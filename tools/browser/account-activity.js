import assert from 'node:assert/strict';
import { mockResponse } from './account-mocked-responses.js';
import { tabTo } from './keyboard.js';
import { checkWithAxe } from './pages/examine.js';

/** Operations of this page. */
export const ACTIVITY_OPERATIONS = ['SecurityEventList'];

const TOO_MANY = { errors: [{ message: 'made up', extensions: { code: 'RATE_LIMITED', retryAfter: 60 } }], data: null };
const OF_A_LATER_VERSION = {
  id: 'security_event:01JD3Q5Z8W2N4K6M7P9R0S1T00',
  createdAt: '2026-11-23T12:00:00.000Z',
  ...{ kind: 'OF_A_LATER_VERSION', outcome: 'SUCCESS', actor: 'SELF', count: 1 },
  ...{ ip: null, userAgent: null, session: null, client: null, subject: null },
};

/** Expression for an ID. IDs sort by time, and lists use that order. Expects a time `at` and a number `n`. */
export const ID_AT = `(lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || left(md5(n::text), 20))::uuid`;

/** Views the account activity: all events, filtered events, and page by page. */
export async function lookAtActivity({ page, latchkey, username }) {
  await latchkey.sql(
    `insert into audit_events (id, kind, user_id, detail, ip, created_at)
     select ${ID_AT}, 'upstream_linked', u.id, jsonb_build_object('provider', 'Service ' || n), '198.51.100.7', at
       from users u, generate_series(1, 44) n, lateral (select now() - interval '1 day' - n * interval '1 minute') t (at)
      where u.username = $1`,
    [username],
  );
  await activate(page, page.getByRole('link', { name: 'Activity' }));
  await heading(page);
  const rows = page.locator('.session');
  await rows.nth(19).waitFor();
  assert.equal(await rows.count(), 20);
  const login = rows.filter({ hasText: 'Signed in' }).filter({ hasText: 'This device' });
  await login.first().getByText('127.0.0.1').waitFor();
  assert.deepEqual(await page.locator('h2.day').allTextContents(), ['today']);
  await checkWithAxe(page);
  await secureAccount(page);

  await activate(page, page.getByRole('link', { name: 'Sign-in methods' }));
  // The password was set with the registration, which is the first event.
  await page.getByText('Service 19', { exact: true }).waitFor();
  assert.equal(await page.locator('.filters [aria-current]').innerText(), 'Sign-in methods');
  await activate(page, page.getByRole('link', { name: 'Older' }));
  await page.getByText('Service 39', { exact: true }).waitFor();
  await activate(page, page.getByRole('link', { name: 'Older' }));
  await page.getByText('Service 44', { exact: true }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'Older' }).count(), 0);
  assert.match(page.url(), /\/account\/activity\?kind=methods&last=20&before=/);
  await activate(page, page.getByRole('link', { name: 'Newer' }));
  await page.getByText('Service 39', { exact: true }).waitFor();
  await page.waitForFunction(() => document.activeElement?.tagName === 'H1');

  await mockResponse(page, 'SecurityEventList', { body: TOO_MANY });
  await activate(page, page.getByRole('link', { name: 'Account', exact: true }));
  await page.getByRole('alert').getByText('Too many attempts. Retry in a minute.').waitFor();
  await mockResponse(page, 'SecurityEventList', { status: 503, body: { errors: [] } });
  await activate(page, page.getByRole('button', { name: 'Retry' }));
  await page.getByRole('alert').getByText('Could not connect.').waitFor();
  await mockResponse(page, 'SecurityEventList', undefined);
  await activate(page, page.getByRole('button', { name: 'Retry' }));
  await page.getByText('Account created').waitFor();
  await page.getByText('by an administrator').waitFor();
  await page.getByRole('alert').waitFor({ state: 'detached' });

  await mockResponse(page, 'SecurityEventList', { body: { data: answerWith([]) } });
  await activate(page, page.getByRole('link', { name: 'Apps and devices' }));
  await page.getByText('No activity of this type.').waitFor();
  await activate(page, page.getByRole('link', { name: 'All', exact: true }));
  await page.getByText('Sign-ins and changes to your account will appear here.').waitFor();
  assert.equal(await page.locator('.filters').count(), 0, 'nothing to filter');
  await page.goto(`${latchkey.base}account/activity?kind=account`);
  await mockResponse(page, 'SecurityEventList', { body: { data: answerWith([OF_A_LATER_VERSION]) } });
  await activate(page, page.getByRole('link', { name: 'Sign-ins' }));
  await page.getByText('Other activity').waitFor();
  await page.reload();
  await rows.first().waitFor();
  assert.equal(await page.locator('.filters [aria-current]').innerText(), 'Sign-ins');
}

/** The steps for someone who does not recognize an event. */
async function secureAccount(page) {
  await activate(page, page.getByRole('link', { name: 'Secure your account' }));
  await page.getByRole('heading', { level: 1, name: 'Secure your account' }).waitFor();
  for (const step of ['Sign out everywhere else', 'Change your password', 'Check how to get back in'])
    await page.getByRole('heading', { level: 2, name: step }).waitFor();
  await page.getByText('You are signed in only in this browser.').waitFor();
  await checkWithAxe(page);
  await page.goBack();
  await heading(page);
  await page.locator('.filters').waitFor();
}

function answerWith(nodes) {
  const pageInfo = { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null };
  const securityEvents = { __typename: 'SecurityEventConnection', nodes, pageInfo };
  return { viewer: { __typename: 'User', id: 'user:01JD3Q5Z8W2N4K6M7P9R0S1T00', securityEvents } };
}

async function activate(page, locator) {
  await locator.waitFor();
  await tabTo(page, locator);
  await page.keyboard.press('Enter');
}

async function heading(page) {
  await page.getByRole('heading', { level: 1, name: 'Activity', exact: true }).waitFor();
}
