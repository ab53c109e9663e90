import assert from 'node:assert/strict';
import { mockResponse } from './account-mocked-responses.js';
import { activate, heading, signIn, withPage } from './account-steps.js';
import { ANNOUNCED, hearAnnouncements } from './announcements.js';
import { press } from './keyboard.js';
import { checkWithAxe } from './pages/examine.js';
import { signInAtProvider } from './upstream-provider.js';
import { blockFonts } from './upstream-services.js';

/** Operations of this page (account-graphql 7.3). */
export const LINKED_OPERATIONS = ['LinkableProviderList', 'LinkedAccountList', 'UnlinkUpstreamAccount'];

/** Links an account at another service, sees why it cannot be unlinked, and unlinks it. */
export async function linkAndUnlink({ browser, latchkey, username }) {
  await withPage(browser, async (page, browserErrors) => {
    await blockFonts(page);
    const heard = await hearAnnouncements(page);
    await page.goto(`${latchkey.base}account/`);
    await signIn(page, username);
    await activate(page, page.getByRole('link', { name: 'Manage linked accounts' }));
    await heading(page, 'Linked accounts');
    await page.getByText('Accounts at other services that you can sign in with will appear here.').waitFor();
    await checkWithAxe(page);
    await press(page, page.getByRole('link', { name: 'Link Quayside Club' }));
    await signInAtProvider(page, `${username}@quayside.example`);
    await page.waitForURL(/\/upstream\/link\//);
    await press(page, page.getByRole('button', { name: 'Link accounts', exact: true }));

    await heading(page, 'Linked accounts');
    assert.match(page.url(), /\/account\/linked-accounts$/);
    await page.getByText(`${username}@quayside.example`, { exact: true }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'Link Quayside Club' }).count(), 0, 'it is linked');
    const button = page.getByRole('button', { name: 'Unlink Quayside Club' });
    const dialog = page.getByRole('dialog', { name: 'Unlink your Quayside Club account?' });
    for (const [status, text] of [
      ['LAST_LOGIN_METHOD', 'This is your only way to sign in.'],
      ['MANAGED_BY_PROVIDER', 'Only an administrator can remove this link.'],
      ['NOT_FOUND', 'This account is no longer linked.'],
    ]) {
      await mockResponse(page, 'UnlinkUpstreamAccount', { body: { data: { unlinkUpstreamAccount: { status } } } });
      await activate(page, button);
      await activate(page, dialog.getByRole('button', { name: 'Unlink', exact: true }));
      await dialog.getByRole('alert').getByText(text).waitFor();
      assert.equal(await dialog.getByRole('button').count(), 1, 'there is no use to try again');
      await checkWithAxe(page);
      await activate(page, dialog.getByRole('button', { name: 'Close' }));
      await dialog.waitFor({ state: 'detached' });
    }
    const unknown = { unlinkUpstreamAccount: { status: 'OF_A_LATER_VERSION' } };
    await mockResponse(page, 'UnlinkUpstreamAccount', { body: { data: unknown } });
    await activate(page, button);
    await activate(page, dialog.getByRole('button', { name: 'Unlink', exact: true }));
    await dialog.getByRole('alert').getByText('Something went wrong').waitFor();
    await mockResponse(page, 'UnlinkUpstreamAccount', undefined);
    await activate(page, dialog.getByRole('button', { name: 'Unlink', exact: true }));
    await page.getByText('Accounts at other services that you can sign in with will appear here.').waitFor();
    await page.getByRole('link', { name: 'Link Quayside Club' }).waitFor();
    assert.deepEqual(await latchkey.sql('select id from upstream_links where user_id is not null'), []);
    heard.check(ANNOUNCED.linked);
    assert.deepEqual(browserErrors, []);
  });
}
