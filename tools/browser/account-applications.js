import assert from 'node:assert/strict';
import { checkMessages } from './account-mocked-responses.js';
import { activate, heading } from './account-steps.js';
import { tabTo } from './keyboard.js';
import { checkWithAxe } from './pages/examine.js';

/** Operations of this page (account-graphql 7.6). */
export const APPLICATION_OPERATIONS = [
  'ConnectedApplicationList',
  'ConnectedApplicationFacts',
  'ConsentList',
  'RevokeApplication',
  'RevokeConsent',
];

const OTHERS = 9;

/**
 * Revokes the access of one application and the consent of another, with more entries than the page shows at first. All
 * sessions of an application are one entry.
 */
export async function revokeApplications({ page, latchkey, username }) {
  await page.goto(`${latchkey.base}account/sessions`);
  await activate(page, page.getByRole('link', { name: 'Apps', exact: true }));
  await heading(page, 'Apps');
  await page.getByText('Apps that you sign in to with this account will appear here.').waitFor();

  await latchkey.sql(CONNECT, [username, OTHERS]);
  await page.goto(`${latchkey.base}account/applications`);
  await lookThrough(page);
  await checkWithAxe(page);
  await takeAccess({ page, latchkey, username });
  await beAskedAgain({ page, latchkey, username });

  await latchkey.sql('update oauth2_sessions set finished_at = now() where finished_at is null');
  await latchkey.sql('delete from oauth2_consents');
}

/** Other applications first, then the one of the configuration, which has two sessions. */
const CONNECT = `
  with others as (
    insert into oauth2_clients (id, is_static, metadata, created_at)
    select ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, false,
           metadata || jsonb_build_object('client_name', 'Application ' || n), now()
      from oauth2_clients, generate_series(1, $2) n where is_static
    returning id
  ), clients as (
    select id, 1 as sessions, '1 hour'::interval as age from others
    union all select id, 2, '0' from oauth2_clients where is_static
  ), sessions as (
    insert into oauth2_sessions (id, user_id, client_id, scope, refresh_family, created_at)
    select gen_random_uuid(), u.id, c.id, array['openid', 'email'], sha256((c.id::text || n)::bytea), now() - c.age
      from users u, clients c, generate_series(1, c.sessions) n where u.username = $1
  )
  insert into oauth2_consents (id, user_id, client_id, scope, created_at, updated_at)
  select c.id, u.id, c.id, array['openid', 'email'], now() - c.age, now() - c.age
    from users u, clients c where u.username = $1`;

/** Eight, then all of them. */
async function lookThrough(page) {
  const cards = page.locator('.session');
  await cards.nth(7).waitFor();
  assert.equal(await cards.count(), 8);
  const more = page.getByRole('button', { name: 'Show more' });
  await activate(page, more);
  await more.waitFor({ state: 'detached' });
  assert.equal(await cards.count(), OTHERS + 1, 'sessions and permissions of an application are one entry');
}

async function takeAccess({ page, latchkey, username }) {
  const card = page.locator('.session', { hasText: 'Harbour Chat' });
  await card.getByText('2 sessions').waitFor();
  await activate(page, card.locator('summary'));
  await card.getByText('See your email address').waitFor();
  const button = page.getByRole('button', { name: 'Remove access for Harbour Chat' });
  await activate(page, button);
  const dialog = page.getByRole('dialog', { name: 'Remove access for Harbour Chat?' });
  await dialog.waitFor();
  await checkWithAxe(page);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await activate(page, button);
  await tabTo(page, dialog.getByRole('button', { name: 'Remove access' }));
  await checkMessages(page, 'RevokeApplication', {
    'Too many attempts': 'RATE_LIMITED',
    'Something went wrong': { revokeApplication: { status: 'OF_A_LATER_VERSION', endedSessions: 0 } },
  });
  assert.equal((await liveSessions(latchkey, username)).length, OTHERS + 2, 'nothing has ended yet');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await button.waitFor({ state: 'detached' });
  await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
  assert.deepEqual(new Set(await liveSessions(latchkey, username)), new Set([false]), 'those of the others go on');
  // Its consent was revoked too.
  assert.equal(await page.getByRole('link', { name: 'Harbour Chat' }).count(), 0);
}

async function beAskedAgain({ page, latchkey, username }) {
  const card = page.locator('.session').first();
  const name = await card.getByRole('link').innerText();
  await activate(page, card.locator('summary'));
  await activate(page, card.getByRole('button', { name: `Reset permissions for ${name}` }));
  const dialog = page.getByRole('dialog', { name: `Reset permissions for ${name}?` });
  await dialog.waitFor();
  await checkWithAxe(page);
  const confirm = dialog.getByRole('button', { name: 'Reset permissions' });
  await tabTo(page, confirm);
  await checkMessages(page, 'RevokeConsent', {
    'Something went wrong': { revokeConsent: { status: 'OF_A_LATER_VERSION' } },
  });
  await activate(page, confirm);
  await dialog.waitFor({ state: 'detached' });
  await card.getByRole('button', { name: `Reset permissions for ${name}` }).waitFor({ state: 'detached' });
  assert.equal((await liveSessions(latchkey, username)).length, OTHERS, 'it stays signed in');

  // Without a session, the saved permissions are all that an application has.
  await latchkey.sql('update oauth2_sessions set finished_at = now() where finished_at is null');
  await page.reload();
  await page.getByText('Not signed in').first().waitFor();
  const other = await page.locator('.session').first().getByRole('link').innerText();
  await activate(page, page.getByRole('button', { name: `Remove access for ${other}`, exact: true }));
  await tabTo(page, page.getByRole('dialog').getByRole('button', { name: 'Remove access' }));
  await checkMessages(page, 'RevokeConsent', {
    'This was already removed.': { revokeConsent: { status: 'NOT_FOUND' } },
  });
  await activate(page, page.getByRole('dialog').getByRole('button', { name: 'Close' }));
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

/** Returns, for each session, whether it belongs to the application of the configuration. */
async function liveSessions(latchkey, username) {
  const live = `select c.is_static from oauth2_sessions s join oauth2_clients c on c.id = s.client_id
                  join users u on u.id = s.user_id where u.username = $1 and s.finished_at is null`;
  return (await latchkey.sql(live, [username])).map(({ is_static: isStatic }) => isStatic);
}
