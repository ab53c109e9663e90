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

const OTHERS = 7;

/**
 * Revokes the access of one application and the consent of another, with more entries than one page shows in both
 * lists.
 */
export async function revokeApplications({ page, latchkey, username }) {
  await page.goto(`${latchkey.base}account/sessions`);
  await activate(page, page.getByRole('link', { name: 'Apps', exact: true }));
  await heading(page, 'Apps');
  await page.getByText('No connected apps yet.').waitFor();
  await page.getByText('No saved permissions.').waitFor();

  await latchkey.sql(CONNECT, [username, OTHERS]);
  await page.goto(`${latchkey.base}account/applications`);
  const connected = page.locator('section', { hasText: 'Connected apps' });
  const allowed = page.locator('section', { hasText: 'Saved permissions' });
  await lookThrough(page, connected);
  await lookThrough(page, allowed);
  await checkWithAxe(page);
  await takeAccess({ page, latchkey, username, connected, allowed });
  await beAskedAgain({ page, latchkey, username, allowed });

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

/** Pages of six and two. */
async function lookThrough(page, section) {
  assert.equal(await cards(section), 6);
  await activate(page, section.getByRole('button', { name: 'Older' }));
  await section.getByRole('button', { name: 'Newer' }).waitFor();
  assert.equal(await cards(section), 2);
  await activate(page, section.getByRole('button', { name: 'Newer' }));
  await section.getByRole('button', { name: 'Older' }).waitFor();
}

async function takeAccess({ page, latchkey, username, connected, allowed }) {
  const card = connected.locator('.session', { hasText: 'Harbour Chat' });
  await card.getByText('2 sessions').waitFor();
  await card.getByText('See your email address').waitFor();
  const button = connected.getByRole('button', { name: 'Remove access for Harbour Chat' });
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
  assert.equal(await allowed.getByRole('link', { name: 'Harbour Chat' }).count(), 0);
}

async function beAskedAgain({ page, latchkey, username, allowed }) {
  const name = await allowed.getByRole('link').first().innerText();
  await activate(page, allowed.getByRole('button', { name: `Reset permissions for ${name}` }));
  const dialog = page.getByRole('dialog', { name: `Reset permissions for ${name}?` });
  await dialog.waitFor();
  await checkWithAxe(page);
  await tabTo(page, dialog.getByRole('button', { name: 'Reset permissions' }));
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await allowed.getByRole('link', { name, exact: true }).waitFor({ state: 'detached' });
  assert.equal((await liveSessions(latchkey, username)).length, OTHERS, 'it stays signed in');

  const other = await allowed.getByRole('link').first().innerText();
  await activate(page, allowed.getByRole('button', { name: `Reset permissions for ${other}` }));
  await tabTo(page, page.getByRole('dialog').getByRole('button', { name: 'Reset permissions' }));
  await checkMessages(page, 'RevokeConsent', {
    'Something went wrong': { revokeConsent: { status: 'OF_A_LATER_VERSION' } },
    'This was already removed.': { revokeConsent: { status: 'NOT_FOUND' } },
  });
  await activate(page, page.getByRole('dialog').getByRole('button', { name: 'Close' }));
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

async function cards(section) {
  await section.locator('.session').first().waitFor();
  return await section.locator('.session').count();
}

/** Returns, for each session, whether it belongs to the application of the configuration. */
async function liveSessions(latchkey, username) {
  const live = `select c.is_static from oauth2_sessions s join oauth2_clients c on c.id = s.client_id
                  join users u on u.id = s.user_id where u.username = $1 and s.finished_at is null`;
  return (await latchkey.sql(live, [username])).map(({ is_static: isStatic }) => isStatic);
}
