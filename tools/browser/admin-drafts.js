import assert from 'node:assert/strict';
import { inArea, openUser } from './admin-area-journey.js';
import { PASSWORD } from './settings.js';

const ADMINISTRATOR = 'nadia';

/**
 * One form of each kind. `open` shows it, also after a reload; `field` has the text that must not be lost; `submit` is
 * its button; `done` is reported at the end.
 */
const FORMS = [
  {
    name: 'dialog of a list',
    path: 'users',
    open: (page) => page.getByRole('button', { name: 'Create user' }).click(),
    field: (page) => page.getByRole('dialog').getByLabel('Username'),
    text: 'keeper',
    submit: (page) => page.getByRole('dialog').getByRole('button', { name: 'Create user' }),
    done: 'keeper was created.',
  },
  {
    name: 'dialog with groups',
    path: 'invitations',
    open: (page) => page.getByRole('button', { name: 'Invite' }).click(),
    field: (page) => page.getByRole('dialog').locator('#note'),
    text: 'For the night watch',
    submit: (page) => page.getByRole('dialog').getByRole('button', { name: 'Create invitation' }),
    done: 'created',
  },
  {
    name: 'dialog of a record',
    path: 'users',
    open: async (page) => {
      if (!/users\//.test(page.url())) await openUser(page, ADMINISTRATOR);
      await page.getByRole('button', { name: 'Edit claims' }).click();
    },
    field: (page) => page.getByRole('dialog').getByLabel('Claims (JSON object)'),
    text: '{"berth": 12}',
    submit: (page) => page.getByRole('dialog').getByRole('button', { name: 'Save' }),
    done: 'The claims were saved.',
  },
  {
    name: 'page that creates',
    path: 'applications/new?kind=device',
    open: async () => {},
    field: (page) => page.getByLabel('Name'),
    text: 'Breakwater',
    submit: (page) => page.getByRole('button', { name: 'Add application' }),
    done: 'Breakwater was added.',
  },
  {
    name: 'page that changes',
    path: 'applications?search=Breakwater',
    open: async (page) => {
      if (/search=/.test(page.url())) await page.getByRole('link', { name: 'Breakwater' }).click();
      await page.getByRole('button', { name: 'Save changes' }).waitFor();
    },
    field: (page) => page.getByLabel('Name'),
    text: 'Breakwater at night',
    submit: (page) => page.getByRole('button', { name: 'Save changes' }),
    done: 'Changes saved.',
  },
];

/** What happens to an edit when the network, the right or the sign-in is lost in the middle of it. */
export async function keepEdits(checks, how) {
  for (const form of FORMS) {
    await checks.that(`a ${form.name} keeps what was typed without network, right or sign-in`, () => keep(how, form));
  }
}

async function keep(how, { path, open, field, text, submit, done }) {
  const { latchkey } = how;
  const setAdmin = (isAdmin) =>
    latchkey.sql('update users set can_request_admin = $1::boolean where username = $2', [isAdmin, ADMINISTRATOR]);
  await inArea(how, path, async (page, context) => {
    await open(page);
    await field(page).fill(text);
    const isKept = async (when) => assert.equal(await field(page).inputValue(), text, when);

    await context.setOffline(true);
    await submit(page).click();
    await page.getByRole('alert').filter({ hasText: 'Could not connect' }).waitFor();
    await isKept('without network');
    await context.setOffline(false);

    try {
      await setAdmin(false);
      await submit(page).click();
      const lost = page.getByRole('dialog', { name: 'You are no longer an administrator' });
      await lost.getByRole('button', { name: 'Close' }).click();
      await isKept('without the right');
    } finally {
      await setAdmin(true);
    }

    await latchkey.sql(`update user_sessions set authenticated_at = now() - interval '31 minutes'`);
    await latchkey.sql(`update oauth2_access_tokens set expires_at = now() - interval '1 minute'`);
    await submit(page).click();
    await page.getByRole('dialog', { name: 'Confirm it’s you' }).getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL(/\/reauth\?kind=administer/);
    await page.locator('input[name=password]').fill(PASSWORD);
    await page.locator('form:has(input[name=password]) button[type=submit]').first().click();
    await page.waitForURL(/\/admin\//);
    await open(page);
    await isKept('after the sign-in');
    await submit(page).click();
    await page.getByRole('status').filter({ hasText: done }).waitFor();
    assert.equal(await page.evaluate(() => sessionStorage.length), 0, 'nothing is kept afterwards');
  });
}
