import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { fill, limitingRate, press, respondingWith, shown, wrong } from './area-steps.js';
import { keepingPassword, send, signInAtHome } from './steps.js';

const PATH = 'account/password/recovery';
const NEW_PASSWORD = 'seven purple walruses sing quietly';
const CHOSEN = { new_password: NEW_PASSWORD, new_password_confirm: NEW_PASSWORD };

let asked = 0;

/** Pages of a password reset. */
export const recoveryPages = [
  { name: 'recover', reach: (page, { base }) => page.goto(`${base}recover`) },
  {
    name: 'recover-invalid',
    codes: ['invalid'],
    reach: async (page, { base }) => {
      await page.goto(`${base}recover`);
      await send(page, { email: 'nobody' });
    },
  },
  { name: 'recover-closed', reach: (page, { closedBase }) => page.goto(`${closedBase}recover`) },
  { name: 'recover-progress', reach: ask },
  {
    name: 'recover-progress-limited',
    codes: ['rate_limit_exceeded'],
    reach: async (page, site) => {
      await ask(page, site);
      await send(page, {});
    },
  },
  { name: 'recover-link', reach: (page, site) => open(page, site) },
  {
    name: 'recover-link-refused',
    reach: async (page, site) => {
      await open(page, site);
      await fill(page, { new_password: 'kayakriver', new_password_confirm: 'kayakriver' });
      await press(page);
      await wrong(page, ['new_password']);
    },
  },
  {
    name: 'recover-done',
    reach: (page, site) =>
      keepingPassword(site, async () => {
        await open(page, site);
        await fill(page, CHOSEN);
        await press(page);
        await page.waitForURL(`${site.base}login?kind=manage_account`);
        await page.locator('[data-notice=password_recovered]').waitFor();
      }),
  },
  { name: 'recover-link-expired', reach: (page, site) => open(page, site, { minutesOld: 11 }) },
  {
    name: 'recover-link-expired-limited',
    reach: async (page, site) => {
      await open(page, site, { minutesOld: 11 });
      const limited = { resendRecoveryEmail: { status: 'RATE_LIMITED', progressUrl: null } };
      await respondingWith(page, 'ResendRecoveryEmail', limited, () => page.locator('main button').click());
      await page.locator('[role=alert]').waitFor();
    },
  },
  {
    name: 'recover-link-over',
    reach: async (page, site) => {
      await open(page, site, { minutesOld: 61 });
      await page.locator('main button').click();
      await page.locator('main a[href="/recover"]').waitFor();
    },
  },
  { name: 'recover-link-unknown', reach: unknown },
  {
    name: 'recover-link-limited',
    reach: (page, { base }) =>
      limitingRate(page, 'PasswordRecovery', async () => {
        await page.goto(`${base}${PATH}?ticket=${'x'.repeat(32)}`);
        await page.locator('[role=alert]').waitFor();
        await shown(page);
      }),
  },
  ...[
    ['ACCOUNT_LOCKED', 'main [role=status]'],
    ['RECOVERY_TICKET_ALREADY_USED', 'main a[href="/recover"]'],
    ['PASSWORD_CHANGES_DISABLED', 'main [role=status]'],
    ['NOT_FOUND', 'main [role=alert]'],
  ].map(([status, content]) => ({
    name: `recover-link-${status.toLowerCase().replaceAll('_', '-')}`,
    reach: async (page, site) => {
      await open(page, site);
      await fill(page, CHOSEN);
      const answer = { setPasswordByRecovery: { status, suggestions: null } };
      await respondingWith(page, 'RecoverPassword', answer, () => press(page));
      await page.locator(content).first().waitFor();
    },
  })),
  {
    name: 'recover-link-signed-in',
    reach: async (page, site) => {
      await signInAtHome(page, site, 'faro');
      await openLink(page, site, 'x'.repeat(32));
      await page.locator('.account').waitFor();
    },
  },
];

async function unknown(page, site) {
  await openLink(page, site, 'x'.repeat(32));
  await page.locator('main a[href="/recover"]').waitFor();
}

async function ask(page, { base }) {
  asked += 1;
  await page.goto(`${base}recover`);
  await send(page, { email: `person${asked}-${randomBytes(4).toString('hex')}@mail.example` });
}

/** Opens the link of a mail sent some time ago. */
async function open(page, site, { minutesOld = 0 } = {}) {
  const ticket = randomBytes(16).toString('hex');
  const email = `faro-${ticket.slice(0, 6)}@mail.example`;
  await site.latchkey.sql(
    `with owner as (
       select u.id, p.id as password_id from users u join user_passwords p on p.user_id = u.id where u.username = 'faro'
     ), address as (
       insert into user_emails (id, user_id, email, email_key, created_at)
       select gen_random_uuid(), owner.id, $1, $1, now() from owner returning id
     ), session as (
       insert into user_recovery_sessions (id, email, email_key, locale, created_at)
       values (gen_random_uuid(), $1, $1, 'en', now() - $3 * interval '1 minute') returning id, created_at
     )
     insert into user_recovery_tickets (ticket_hash, session_id, user_id, user_email_id, password_id, created_at)
     select decode($2, 'hex'), session.id, owner.id, address.id, owner.password_id, session.created_at
       from owner, address, session`,
    [email, createHash('sha256').update(ticket).digest('hex'), minutesOld],
  );
  // Opened links are rate limited by address, and this address opens many.
  await site.latchkey.sql('delete from rate_limits');
  await openLink(page, site, ticket);
}

/** The address bar does not keep the ticket, and requests contain it only in their body. */
async function openLink(page, { base }, ticket) {
  const told = [];
  page.on('request', (request) => {
    const referrer = request.headers().referer ?? '';
    const isTold = request.url().includes(ticket) || referrer.includes(ticket);
    if (isTold && !request.isNavigationRequest()) told.push(request.url());
  });
  await page.goto(`${base}${PATH}?ticket=${ticket}`);
  await shown(page);
  assert.equal(page.url(), `${base}${PATH}`);
  assert.deepEqual(told, []);
}
