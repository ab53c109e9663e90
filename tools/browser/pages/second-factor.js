import { codeOfApp } from '../account-totp.js';
import { PASSWORD } from '../settings.js';
import { send, signIn, signInAtHome } from './steps.js';

const APP = `insert into user_totp_secrets (id, user_id, secret_sealed, last_used_step, created_at)
  select gen_random_uuid(), id, '', 0, now() from users where username = $1 on conflict do nothing`;
const PASSKEY = `insert into user_passkeys
    (id, user_id, credential_id, public_key, sign_count, transports, backed_up, name, created_at)
  select gen_random_uuid(), id, sha256($1::text::bytea), '', 0, '{}', true, 'Phone', now() from users
   where username = $1 on conflict do nothing`;

/** Pages after the password of users with a second factor. A code other than six digits is not looked up. */
export const secondFactorPages = [
  { name: 'login-totp', reach: askForCode },
  {
    name: 'login-totp-wrong',
    codes: ['invalid_code'],
    reach: async (page, site) => {
      await askForCode(page, site);
      await send(page, { code: '12 34' }, 'main form:has([name=code]) button[type=submit]');
    },
  },
  {
    name: 'login-recovery-code',
    reach: async (page, site) => {
      await askForCode(page, site);
      await page.goto(`${site.base}login/recovery-code`);
    },
  },
  {
    name: 'reauth-totp',
    reach: async (page, site) => {
      const own = '(select id from users where username = $1)';
      await site.latchkey.sql(`delete from user_totp_secrets where user_id = ${own}`, ['hana']);
      await signInAtHome(page, site, 'hana');
      await site.latchkey.sql(APP, ['hana']);
      await page.goto(`${site.base}reauth`);
      await send(page, { password: PASSWORD }, 'main form:has([name=password]) button[type=submit]');
    },
  },
  {
    name: 'login-passkey',
    reach: async (page, { latchkey, strictBase }) => {
      await latchkey.sql(PASSKEY, ['idris']);
      await page.goto(`${strictBase}login`);
      await signIn(page, 'idris');
    },
  },
  { name: 'login-setup', reach: askToSetUp },
  {
    name: 'login-setup-codes',
    reach: async (page, site) => {
      await askToSetUp(page, site);
      const secret = (await page.locator('main code').first().innerText()).replaceAll(' ', '');
      await send(page, { code: codeOfApp(secret) }, 'main form:has([name=code]) button[type=submit]');
    },
  },
];

async function askForCode(page, site) {
  await site.latchkey.sql(APP, ['hana']);
  await signInAtHome(page, site, 'hana');
}

/** On a service where all users need a second factor. */
async function askToSetUp(page, { latchkey, strictBase }) {
  await latchkey.sql(`delete from user_totp_secrets where user_id = (select id from users where username = 'jonas')`);
  await page.goto(`${strictBase}login`);
  await signIn(page, 'jonas');
}
