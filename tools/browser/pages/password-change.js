import assert from 'node:assert/strict';
import { PASSWORD } from '../settings.js';
import { fill, limitingRate, press, respondingWith, shown, wrong } from './area-steps.js';
import { keepingPassword, send, signInAtHome } from './steps.js';

const PATH = 'account/password/change';
const OWN = `select id from users where username = 'faro'`;
const NEW_PASSWORD = 'seven purple walruses sing quietly';

/** Pages where a signed-in user changes the password. */
export const passwordChangePages = [
  { name: 'password-change', reach: open },
  {
    name: 'password-change-empty',
    reach: async (page, site) => {
      await open(page, site);
      await press(page);
      await wrong(page, ['current_password', 'new_password']);
    },
  },
  {
    name: 'password-change-wrong',
    reach: async (page, site) => {
      await open(page, site);
      await fill(page, { ...CHANGE, current_password: 'not the password' });
      await press(page);
      await wrong(page, ['current_password']);
    },
  },
  {
    name: 'password-change-weak',
    reach: async (page, site) => {
      await open(page, site);
      await fill(page, { ...CHANGE, new_password: 'kayakriver', new_password_confirm: 'kayakriver' });
      await press(page);
      await wrong(page, ['new_password']);
    },
  },
  {
    name: 'password-change-mismatch',
    reach: async (page, site) => {
      await open(page, site);
      await fill(page, { ...CHANGE, new_password_confirm: 'another' });
      await page.locator('[name=new_password_confirm]').blur();
      await wrong(page, ['new_password_confirm']);
      await press(page);
    },
  },
  {
    name: 'password-change-strength',
    reach: async (page, site) => {
      await open(page, site);
      await page.locator('[name=new_password]').fill(NEW_PASSWORD);
      await page.locator('[role=meter][aria-valuenow="4"][aria-valuetext]').waitFor();
    },
  },
  ...['PASSWORD_CHANGES_DISABLED', 'NO_CURRENT_PASSWORD', 'NOT_FOUND', 'LATER'].map((status) => ({
    name: `password-change-refused-${status.toLowerCase().replaceAll('_', '-')}`,
    reach: async (page, site) => {
      await open(page, site);
      await fill(page, CHANGE);
      await respondingWith(page, 'ChangePassword', { setPassword: { status, suggestions: null } }, () => press(page));
      await page.locator('[role=alert] .notice-danger').waitFor();
    },
  })),
  {
    name: 'password-change-limited',
    reach: async (page, site) => {
      await open(page, site);
      await fill(page, CHANGE);
      await limitingRate(page, 'ChangePassword', () => press(page));
      await page.locator('[role=alert] .notice-danger').waitFor();
      assert.equal(await page.locator('[name=new_password]').inputValue(), NEW_PASSWORD, 'what was typed stays');
    },
  },
  {
    name: 'password-change-done',
    reach: (page, site) =>
      keepingPassword(site, async () => {
        await open(page, site);
        await fill(page, CHANGE);
        await press(page);
        await page.waitForURL(`${site.base}${PATH}/success`);
        await shown(page);
      }),
  },
  {
    name: 'password-change-without-password',
    reach: (page, site) =>
      keepingPassword(site, async () => {
        await signInAtHome(page, site, 'faro');
        await site.latchkey.sql(`delete from user_passwords where user_id = (${OWN})`);
        await page.goto(`${site.base}${PATH}`);
        await shown(page);
      }),
  },
];

const CHANGE = { current_password: PASSWORD, new_password: NEW_PASSWORD, new_password_confirm: NEW_PASSWORD };

async function open(page, site) {
  await page.goto(`${site.base}.well-known/change-password`);
  await send(page, { username: 'faro', password: PASSWORD });
  await page.locator('[name=new_password]').waitFor();
  await shown(page);
}
