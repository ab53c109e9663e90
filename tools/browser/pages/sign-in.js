import { arrive, send, signInAtHome } from './steps.js';

const SESSIONS_OF = 'user_id = (select id from users where username = $1)';

/** Session pages: the index page, sign-in, sign-out, reauthentication, and their replacements. */
export const signInPages = [
  { name: 'index', reach: (page, { base }) => page.goto(base) },
  { name: 'index-signed-in', reach: (page, site) => signInAtHome(page, site, 'amira') },
  { name: 'login', reach: (page, { base }) => page.goto(`${base}login`) },
  {
    name: 'login-to-application',
    reach: async (page, { relyingParty }) => page.goto((await relyingParty.begin()).address),
  },
  {
    name: 'login-empty',
    codes: ['required', 'required'],
    reach: async (page, { base }) => {
      await page.goto(`${base}login`);
      await send(page, {});
    },
  },
  {
    name: 'login-wrong',
    codes: ['invalid_credentials'],
    reach: async (page, { base }) => {
      await page.goto(`${base}login`);
      await send(page, { username: 'amira', password: 'not the password' });
    },
  },
  {
    name: 'login-too-often',
    codes: ['rate_limit_exceeded'],
    reach: async (page, { base }) => {
      await page.goto(`${base}login`);
      const alert = page.locator('[data-error-code=rate_limit_exceeded]');
      for (let tries = 0; tries < 10 && (await alert.count()) === 0; tries += 1) {
        await send(page, { username: 'nobody', password: 'not the password' });
      }
    },
  },
  { name: 'login-switched-off', reach: (page, { closedBase }) => page.goto(`${closedBase}login`) },
  {
    name: 'logout-asked-by-address',
    status: 405,
    reach: (page, { base }) => page.goto(`${base}logout`),
  },
  {
    name: 'logout-asked-by-application',
    reach: async (page, site) => {
      await signInAtHome(page, site, 'faro');
      await page.goto(`${site.base}oauth2/logout`);
    },
  },
  { name: 'signed-out', reach: (page, { base }) => page.goto(`${base}oauth2/logout`) },
  { name: 'reauth', reach: openReauth },
  {
    name: 'reauth-wrong',
    codes: ['invalid_credentials'],
    reach: async (page, site) => {
      await openReauth(page, site);
      await send(page, { password: 'not the password' }, 'main form:has([name=password]) button[type=submit]');
    },
  },
  {
    name: 'reauth-without-password',
    reach: async (page, site) => {
      await signInAtHome(page, site, 'faro');
      const own = `select id from users where username = 'faro'`;
      const [password] = await site.latchkey.sql(`delete from user_passwords where user_id = (${own}) returning *`);
      await page.goto(`${site.base}reauth`);
      await site.latchkey.sql(
        'insert into user_passwords select * from json_populate_record(null::user_passwords, $1)',
        [JSON.stringify(password)],
      );
    },
  },
  {
    name: 'signed-out-elsewhere',
    reach: async (page, site) => {
      await signInAtHome(page, site, 'bo');
      await site.latchkey.sql(`update user_sessions set finished_at = now() where ${SESSIONS_OF}`, ['bo']);
      await page.goto(site.base);
    },
  },
  { name: 'account-locked', reach: (page, site) => closeAccount(page, site, 'locked_at') },
  { name: 'account-deactivated', reach: (page, site) => closeAccount(page, site, 'deactivated_at') },
];

/** A client requests a fresh sign-in. */
async function openReauth(page, site) {
  await signInAtHome(page, site, 'amira');
  const { address } = await site.relyingParty.begin({ prompt: 'login' });
  await page.goto(address);
}

async function closeAccount(page, site, column) {
  await arrive(page, site, 'bo');
  const set = (value) => site.latchkey.sql(`update users set ${column} = ${value} where username = 'bo'`);
  await set('now()');
  await page.reload();
  await set('null');
}
