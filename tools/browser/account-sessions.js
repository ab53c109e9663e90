import assert from 'node:assert/strict';
import { checkMessages } from './account-mocked-responses.js';
import { activate, heading } from './account-steps.js';
import { typeInto } from './keyboard.js';
import { checkWithAxe } from './pages/examine.js';

/** Operations of these pages (account-graphql 6). */
export const SESSION_OPERATIONS = ['EndOAuth2Session', 'OAuth2Client', 'SetCompatSessionName', 'SetOAuth2SessionName'];

/** Names the sessions of an application and of a chat client, views the application's details, and signs out of it. */
export async function nameSessions({ page, latchkey, username }) {
  const { base } = latchkey;
  await latchkey.sql(
    `insert into oauth2_sessions (id, user_id, client_id, scope, refresh_family, created_at)
     select gen_random_uuid(), u.id, c.id, array['openid'], sha256('named'), now()
       from users u, oauth2_clients c where u.username = $1 and c.is_static`,
    [username],
  );
  await page.goto(`${base}account/sessions`);
  const card = page.locator('.session', { hasText: 'Harbour Chat' });
  await activate(page, card.getByRole('link'));
  const dialog = await openRename(page, 'Harbour Chat');
  assert.equal(await dialog.getByLabel('Name').inputValue(), '', 'what has no name is not named');
  await typeInto(page, dialog.getByLabel('Name'), ' ');
  await page.keyboard.press('Enter');
  await dialog.getByRole('alert').getByText('Enter a name.').waitFor();
  await checkWithAxe(page);
  await typeInto(page, dialog.getByLabel('Name'), 'Kitchen tablet');
  await checkMessages(page, 'SetOAuth2SessionName', {
    'Something went wrong': { setOauth2SessionName: { status: 'OF_A_LATER_VERSION' } },
    'This session has already ended.': { setOauth2SessionName: { status: 'NOT_FOUND' } },
    'include the request ID POST-1': 'BAD_USER_INPUT',
  });
  await page.keyboard.press('Enter');
  await heading(page, 'Kitchen tablet');
  await dialog.waitFor({ state: 'detached' });

  await activate(page, page.getByRole('link', { name: 'Harbour Chat' }));
  await heading(page, 'Harbour Chat');
  assert.equal(await page.getByText('Not verified').count(), 0);
  await page.goBack();
  await heading(page, 'Kitchen tablet');
  await activate(page, page.getByRole('button', { name: 'Sign out Kitchen tablet' }));
  await activate(page, page.getByRole('dialog').getByRole('button', { name: 'Sign out' }));
  await page.getByText('This session ended on').waitFor();
  assert.equal(await page.getByRole('button', { name: /^Rename/ }).count(), 0, 'what has ended keeps its name');

  await page.goto(`${base}account/devices/OLDPHONE`);
  const chat = await openRename(page, 'Unknown device');
  await typeInto(page, chat.getByLabel('Name'), 'Old phone');
  await checkMessages(page, 'SetCompatSessionName', {
    'This session has already ended.': { setCompatSessionName: { status: 'NOT_FOUND' } },
  });
  await page.keyboard.press('Enter');
  await heading(page, 'Old phone');
}

async function openRename(page, name) {
  await activate(page, page.getByRole('button', { name: `Rename ${name}` }));
  const dialog = page.getByRole('dialog', { name: 'Rename this session' });
  await dialog.waitFor();
  return dialog;
}
