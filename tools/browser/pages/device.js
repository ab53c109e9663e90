import { CLIENT_ID, CLIENT_SECRET } from '../relying-party.js';
import { BANNED_USER_AGENT } from '../settings.js';
import { crowd, send, signInAtHome } from './steps.js';

/** Pages where a user enters a device code and decides about it, and their possible results. */
export const devicePages = [
  { name: 'device-link', reach: (page, { base }) => page.goto(`${base}link`) },
  {
    name: 'device-link-filled',
    reach: async (page, site) => {
      await page.goto(await askForCode(site));
    },
  },
  {
    name: 'device-link-unknown',
    codes: ['invalid_code'],
    reach: async (page, { base }) => {
      await page.goto(`${base}link`);
      await send(page, { code: 'BBBB-BBBB' });
    },
  },
  {
    name: 'device-sign-in',
    reach: async (page, site) => {
      await page.goto(await askForCode(site));
      await send(page, {});
    },
  },
  { name: 'device', reach: (page, site) => enter(page, site, 'amira') },
  {
    name: 'device-unconfirmed',
    codes: ['required'],
    reach: async (page, site) => {
      await enter(page, site, 'amira');
      await page.locator('[name=confirm_device]').evaluate((box) => box.removeAttribute('required'));
      await send(page, {}, '[value=consent]');
    },
  },
  {
    name: 'device-forbidden',
    status: 403,
    codes: ['admin-scope'],
    reach: (page, site) => enter(page, site, 'bo', 'openid urn:latchkey:admin'),
  },
  {
    name: 'device-requester-banned',
    status: 403,
    codes: ['requester-banned'],
    userAgent: BANNED_USER_AGENT,
    reach: (page, site) => enter(page, site, 'amira'),
  },
  {
    name: 'device-too-many-sessions',
    status: 403,
    codes: ['too-many-sessions'],
    reach: (page, site) => crowd(site, 'bo', 3, () => enter(page, site, 'bo')),
  },
  {
    name: 'device-granted',
    reach: async (page, site) => {
      await enter(page, site, 'amira');
      await page.locator('[name=confirm_device]').check();
      await send(page, {}, '[value=consent]');
    },
  },
  {
    name: 'device-refused',
    reach: async (page, site) => {
      await enter(page, site, 'amira');
      await send(page, {}, '[value=reject]');
    },
  },
  {
    name: 'device-not-found',
    status: 404,
    codes: ['device_code_not_found'],
    reach: async (page, site) => {
      await signInAtHome(page, site, 'amira');
      await page.goto(`${site.base}device/01JD3Q5Z8W2N4K6M7P9R0S1T2V`);
    },
  },
  {
    name: 'device-expired',
    status: 410,
    codes: ['expired_token'],
    reach: async (page, site) => {
      await enter(page, site, 'amira');
      await site.latchkey.sql('update oauth2_device_code_grants set expires_at = now()');
      await page.reload();
    },
  },
];

/** @returns the URL with the code that the device shows */
async function askForCode({ base }, scope = 'openid profile') {
  const response = await fetch(`${base}oauth2/device`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString('base64')}` },
    body: new URLSearchParams({ scope }),
  });
  const { verification_uri_complete: address } = await response.json();
  return address;
}

/** Navigates to the consent page. */
async function enter(page, site, username, scope) {
  await signInAtHome(page, site, username);
  await page.goto(await askForCode(site, scope));
  await send(page, {});
}
