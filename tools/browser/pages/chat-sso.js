import { crowd, send, signIn } from './steps.js';

const HARBOUR = 'https://chat.harbour.example/signed-in';

/** Pages for users sent by a chat client, and their possible results. */
export const chatSsoPages = [
  { name: 'sso-sign-in', reach: (page, site) => page.goto(ssoAddress(site, HARBOUR)) },
  { name: 'sso', reach: (page, site) => arriveFromChat(page, site, HARBOUR) },
  {
    // With a name of maximum length, and without encryption.
    name: 'sso-unprotected',
    reach: (page, site) =>
      arriveFromChat(page, site, `http://${'a-long-name-of-a-host.'.repeat(8)}bücher.example:8443/`),
  },
  {
    name: 'sso-private-address',
    reach: (page, site) => arriveFromChat(page, site, `example.harbour.chat:/${'no-place-to-break'.repeat(10)}`),
  },
  {
    name: 'sso-stale',
    codes: ['csrf_expired'],
    reach: async (page, site) => {
      await arriveFromChat(page, site, HARBOUR);
      await page.locator('[name=rendered]').evaluate((field) => {
        field.value = '';
      });
      await send(page, {});
    },
  },
  {
    name: 'sso-too-many-sessions',
    status: 403,
    codes: ['too-many-sessions'],
    reach: (page, site) => crowd(site, 'bo', 3, () => arriveFromChat(page, site, HARBOUR, 'bo')),
  },
  {
    name: 'sso-used',
    status: 410,
    codes: ['sso_login_used'],
    reach: async (page, site) => {
      await arriveFromChat(page, site, site.relyingParty.callback);
      const address = page.url();
      await send(page, {});
      await page.goto(address);
    },
  },
  {
    name: 'sso-refused',
    status: 400,
    codes: ['invalid_redirect_uri'],
    reach: (page, site) => page.goto(ssoAddress(site, 'javascript:alert(1)')),
  },
];

/**
 * Returns the URL where a chat client sends a user.
 * @param redirectUrl where it waits for the user
 */
export function ssoAddress({ base }, redirectUrl, more = {}) {
  return `${base}_chat/client/v3/login/sso/redirect?${new URLSearchParams({ redirectUrl, ...more })}`;
}

async function arriveFromChat(page, site, redirectUrl, username = 'amira') {
  await page.goto(ssoAddress(site, redirectUrl));
  await signIn(page, username);
}
