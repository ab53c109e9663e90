import assert from 'node:assert/strict';
import { PASSWORD } from '../settings.js';
import { send } from './steps.js';

let registered = 0;

/** Pages of a registration. */
export const registrationPages = [
  { name: 'register', reach: (page, { base }) => page.goto(`${base}register`) },
  {
    name: 'register-for-application',
    reach: async (page, { relyingParty }) => page.goto((await relyingParty.begin({ prompt: 'create' })).address),
  },
  {
    name: 'register-empty',
    codes: ['required', 'required', 'required', 'required'],
    reach: async (page, { base }) => {
      await page.goto(`${base}register`);
      await send(page, {});
    },
  },
  {
    name: 'register-refused',
    codes: ['username-invalid-chars', 'invalid', 'password_too_weak', 'required'],
    reach: async (page, { base }) => {
      await page.goto(`${base}register`);
      await send(page, {
        username: 'Amira Okafor',
        email: 'amira.example.org',
        password: 'abc',
      });
    },
  },
  {
    name: 'register-taken',
    codes: ['exists', 'required'],
    reach: async (page, { base }) => {
      const takeName = async () => {
        await page.goto(`${base}register`);
        await send(page, { username: 'bo', email: 'bo@mail.example', password: PASSWORD });
      };
      await takeName();
      assert.equal(await page.locator('[data-fills]').count(), 3);
      const name = await page.locator('[data-fills]').first().getAttribute('value');
      await page.locator('[data-fills]').first().click();
      assert.equal(await page.locator('[name=username]').inputValue(), name);
      assert.equal(await page.evaluate(() => document.activeElement.id), 'password');
      await takeName();
    },
  },
  ...[
    ['common', 'password123', 0],
    ['fair', 'summer-1987', 2],
    ['good', PASSWORD, 4],
  ].map(([strength, password, score]) => ({
    name: `register-strength-${strength}`,
    reach: async (page, { base }) => {
      await page.goto(`${base}register`);
      await page.locator('[name=username]').fill('amira-okafor');
      await page.locator('[name=password]').fill(password);
      await page.locator(`[role=meter][aria-valuenow="${score}"][aria-valuetext]`).waitFor();
    },
  })),
  { name: 'register-closed', reach: (page, { closedBase }) => page.goto(`${closedBase}register`) },
  { name: 'registration-token', reach: (page, { brandedBase }) => fillForm(page, brandedBase) },
  {
    name: 'registration-token-refused',
    codes: ['invalid'],
    reach: async (page, { brandedBase }) => {
      await fillForm(page, brandedBase);
      await send(page, { token: 'not-a-token' });
    },
  },
  { name: 'verify-email', reach: beginVerification },
  {
    name: 'verify-email-refused',
    codes: ['invalid_code'],
    reach: async (page, site) => {
      await beginVerification(page, site);
      await send(page, { code: '012 345' }, '[value=verify]');
    },
  },
  {
    name: 'verify-email-resent',
    reach: async (page, site) => {
      await beginVerification(page, site);
      await send(page, {}, '[value=resend]');
      await page.locator('[data-notice=code_sent]').waitFor();
    },
  },
  {
    name: 'verify-email-limit',
    codes: ['rate_limit_exceeded'],
    reach: async (page, site) => {
      await beginVerification(page, site);
      await send(page, {}, '[value=resend]');
      await send(page, {}, '[value=resend]');
    },
  },
  {
    name: 'verify-email-over',
    reach: async (page, site) => {
      const username = await beginVerification(page, site);
      await site.latchkey.sql('update user_email_authentications set tries = 30 where email = $1', [
        addressOf(username),
      ]);
      await page.reload();
      await page.locator('[data-state=over]').waitFor();
    },
  },
  {
    name: 'verify-email-other-address',
    codes: ['invalid'],
    reach: async (page, site) => {
      await beginVerification(page, site);
      await page.locator('main summary').click();
      await send(page, { email: 'amira.example.org' }, 'details button');
    },
  },
  {
    name: 'email-in-use',
    reach: async (page, site) => {
      const username = await beginVerification(page, site);
      const owner = `with owner as (
                       insert into users (id, username, username_key, created_at)
                       values (gen_random_uuid(), 'owner-of-' || $1::text, 'owner-of-' || $1::text, now()) returning id
                     )
                     insert into user_emails (id, user_id, email, email_key, created_at)
                     select gen_random_uuid(), id, $2::text, $2::text, now() from owner`;
      await site.latchkey.sql(owner, [username, addressOf(username)]);
      await prove(page, site, username);
      await page.locator('[data-state=email_in_use]').waitFor();
    },
  },
  { name: 'display-name', reach: (page, site) => beginRegistration(page, site) },
  {
    name: 'display-name-refused',
    codes: ['invalid'],
    reach: async (page, site) => {
      await beginRegistration(page, site);
      await send(page, { display_name: 'Amira '.repeat(60) }, '[value=set]');
    },
  },
  { name: 'username-lost', codes: ['exists'], reach: loseUsername },
  {
    name: 'username-lost-refused',
    codes: ['exists'],
    reach: async (page, site) => {
      await loseUsername(page, site);
      await send(page, { username: 'bo' });
    },
  },
  {
    name: 'registration-expired',
    status: 410,
    codes: ['registration_expired'],
    reach: async (page, site) => {
      const username = await beginRegistration(page, site);
      const old = `update user_registrations set created_at = created_at - interval '2 hours' where username = $1`;
      await site.latchkey.sql(old, [username]);
      await page.reload();
    },
  },
  {
    name: 'registration-of-another-browser',
    status: 404,
    codes: ['registration_not_found'],
    reach: (page, { base }) => page.goto(`${base}register/steps/01JD3Q5Z8W2N4K6M7P9R0S1T2V/display-name`),
  },
];

/**
 * Registers up to the display name step.
 * @returns the username
 */
async function beginRegistration(page, site) {
  const username = await beginVerification(page, site);
  await prove(page, site, username);
  return username;
}

/**
 * Registers up to the code step.
 * @returns the username
 */
async function beginVerification(page, { base }) {
  return await fillForm(page, base);
}

function addressOf(username) {
  return `${username}@mail.example`;
}

/** Continues as if the code had been entered. */
async function prove(page, { latchkey }, username) {
  const proven = 'update user_email_authentications set completed_at = now() where email = $1';
  await latchkey.sql(proven, [addressOf(username)]);
  await page.reload();
}

async function fillForm(page, base) {
  registered += 1;
  const username = `guest-${registered}`;
  await page.goto(`${base}register`);
  const terms = page.locator('[name=accept_terms]');
  if ((await terms.count()) > 0) await terms.check();
  const email = page.locator('[name=email]');
  if ((await email.count()) > 0) await email.fill(addressOf(username));
  await send(page, { username, password: PASSWORD });
  return username;
}

/** Another user takes the name just before the end. */
async function loseUsername(page, site) {
  const username = await beginRegistration(page, site);
  const other = `insert into users (id, username, username_key, created_at)
                 values (gen_random_uuid(), $1::text, $1::text, now())`;
  await site.latchkey.sql(other, [username]);
  await send(page, { display_name: 'Guest' }, '[value=set]');
}
