import assert from 'node:assert/strict';
import { ID_AT } from '../account-activity.js';
import { LONG_SCOPE, PASSWORD, PLAN } from '../settings.js';
import { respondingWith } from './area-steps.js';
import { crowd, signInAtHome } from './steps.js';

/** Pages of the account area. A page is ready when it shows the result of its queries. */
export const accountPages = [
  { name: 'account-profile', reach: (page, site) => open(page, site, '', '.fact-list') },
  {
    name: 'account-details',
    reach: async (page, site) => {
      await open(page, site, '', '.section > .button');
      await page.locator('.section > .button').first().click();
      await page.locator('dialog #time_zone').waitFor();
    },
  },
  { name: 'account-emails', reach: (page, site) => withEmails(site, 8, () => open(page, site, '', '.pages button')) },
  { name: 'account-email-add', reach: openEmailDialog },
  {
    name: 'account-email-add-refused',
    reach: async (page, site) => {
      await openEmailDialog(page, site);
      await fillEmailDialog(page, 'somebody', PASSWORD);
      await page.locator('#email-error').waitFor();
    },
  },
  {
    name: 'account-email-remove',
    reach: (page, site) =>
      withEmails(site, 2, async () => {
        await open(page, site, '', '.rows .button-quiet');
        await page.locator('.rows .row').first().locator('.button-quiet').last().click();
        await page.locator('dialog #password').waitFor();
      }),
  },
  {
    name: 'account-data-pending',
    reach: (page, site) => withExport(site, {}, () => open(page, site, '', '.section .notice-info')),
  },
  {
    name: 'account-data-ready',
    reach: (page, site) => withExport(site, { bytes: 48_000 }, () => open(page, site, '', 'a[href*="/data-export/"]')),
  },
  {
    name: 'account-data-failed',
    reach: (page, site) =>
      withExport(site, { hasFailed: true }, () => open(page, site, '', '.section .notice-warning')),
  },
  { name: 'account-deactivate', reach: openDeactivation },
  {
    name: 'account-deactivate-refused',
    reach: async (page, site) => {
      await openDeactivation(page, site);
      await page.locator('#erase').check();
      await page.locator('dialog #password').fill('not the password');
      await page.locator('dialog .button-danger:enabled').click();
      await page.locator('#password-error').waitFor();
    },
  },
  {
    name: 'account-deactivate-without-password',
    reach: (page, site) => withoutPassword(page, () => openDeactivation(page, site, '#user_id')),
  },
  {
    name: 'account-deactivated',
    reach: async (page, site) => {
      await openDeactivation(page, site);
      await page.locator('dialog #password').fill(PASSWORD);
      await respondingWith(page, 'DeactivateUser', { deactivateUser: { status: 'DEACTIVATED' } }, () =>
        page.locator('dialog .button-danger:enabled').click(),
      );
      await page.locator('main p[role=status]').waitFor();
    },
  },
  { name: 'account-email-verify', reach: beginProof },
  {
    name: 'account-email-verify-refused',
    reach: async (page, site) => {
      await beginProof(page, site);
      await page.locator('main > .button').click();
      await page.locator('main [role=status] .notice').waitFor();
      await page.locator('#code').fill('012345');
      await page.locator('main form .button').click();
      await page.locator('#code-error').waitFor();
    },
  },
  {
    name: 'account-email-in-use',
    reach: async (page, site) => {
      await beginProof(page, site);
      const { pathname } = new URL(page.url());
      await site.latchkey.sql('update user_email_authentications set completed_at = now() where email = $1', [ADDRESS]);
      await page.goto(new URL(pathname.replace(/verify$/, 'in-use'), site.base).href);
      await page.locator('main .name').waitFor();
      await page.locator('.foot a').first().waitFor();
    },
  },
  {
    name: 'account-sessions',
    reach: (page, site) => crowd(site, 'bo', 12, () => open(page, site, 'sessions', '.pages')),
  },
  {
    name: 'account-sessions-inactive',
    reach: (page, site) => open(page, site, 'sessions?inactive=true', '.list-tools'),
  },
  { name: 'account-plan', reach: openPlan },
  { name: 'account-secure', reach: (page, site) => open(page, site, 'secure', '.links-list') },
  {
    name: 'account-session',
    reach: (page, site) =>
      crowd(site, 'bo', 1, async () => {
        await open(page, site, 'sessions', '.session-title');
        await page.locator('.session-title', { hasText: 'Harbour' }).first().click();
        await page.locator('.permissions').waitFor();
      }),
  },
  {
    name: 'account-client',
    reach: async (page, site) => {
      const [{ id }] = await site.latchkey.sql('select id from oauth2_clients where is_static limit 1');
      await open(page, site, `clients/oauth2_client:${ulid(id)}`, '.fact-list');
    },
  },
  { name: 'account-client-unverified', reach: (page, site) => openUnverifiedClient(page, site) },
  {
    name: 'account-client-published',
    reach: (page, site) => openUnverifiedClient(page, site, 'https://apps.harbour.example/client.json'),
  },
  {
    name: 'account-session-rename',
    reach: (page, site) =>
      crowd(site, 'bo', 1, async () => {
        await open(page, site, 'sessions', '.session-title');
        await page.locator('.session-title', { hasText: 'Harbour' }).first().click();
        await page.locator('main > .button-secondary').click();
        await page.locator('#new_name').waitFor();
      }),
  },
  { name: 'account-linked', reach: openLinked },
  { name: 'account-linked-none', reach: (page, site) => openLinked(page, site, 'bo', '.button-secondary') },
  {
    name: 'account-linked-unlink',
    reach: async (page, site) => {
      await openLinked(page, site);
      await page.locator('.session .button').first().click();
      await page.locator('dialog .button-danger').waitFor();
    },
  },
  {
    name: 'account-linked-last',
    reach: async (page, site) => {
      await openLinked(page, site);
      await page.locator('.session .button').first().click();
      await respondingWith(
        page,
        'UnlinkUpstreamAccount',
        { unlinkUpstreamAccount: { status: 'LAST_LOGIN_METHOD' } },
        () => page.locator('dialog .button-danger').click(),
      );
      await page.locator('dialog [role=alert]').waitFor();
    },
  },
  {
    name: 'account-activity',
    reach: (page, site) => withEvents(site, () => open(page, site, 'activity', '.pages')),
  },
  {
    name: 'account-activity-filtered-none',
    reach: (page, site) => open(page, site, 'activity?kind=applications', '.empty-state'),
  },
  {
    name: 'account-activity-none',
    reach: async (page, site) => {
      await signInAtHome(page, site, 'bo');
      await site.latchkey.sql('delete from audit_events where user_id = (select id from users where username = $1)', [
        'bo',
      ]);
      await look(page, site, 'activity', '.empty-state');
    },
  },
  {
    name: 'account-security',
    reach: (page, site) => crowd(site, 'bo', 3, () => open(page, site, 'security', '.section > .button-danger')),
  },
  {
    name: 'account-security-sign-out',
    reach: async (page, site) => {
      await openSignOut(page, site);
      await page.locator('#this_browser').check();
    },
  },
  {
    name: 'account-security-sign-out-nothing',
    reach: async (page, site) => {
      await openSignOut(page, site);
      await page.locator('#other_browsers').uncheck();
      await page.locator('#applications').uncheck();
      await page.locator('dialog form .button').first().click();
      await page.locator('#end-all-trouble').waitFor();
    },
  },
  {
    name: 'account-security-app',
    reach: (page, site) => withApp(page, site, 'security', () => page.locator('h3').waitFor()),
  },
  {
    name: 'account-security-app-remove',
    reach: (page, site) =>
      withApp(page, site, 'security', async () => {
        await page.locator('.section:has(h3) > .button-secondary').first().click();
        await page.locator('dialog .button-danger').waitFor();
      }),
  },
  {
    name: 'account-security-codes',
    reach: (page, site) =>
      withApp(page, site, 'security', async () => {
        await page.locator('h3 ~ .button-secondary').click();
        await page.locator('dialog .button-danger').click();
        await page.locator('dialog').waitFor({ state: 'detached' });
        await page.locator('.section form .button').click();
        await page.locator('.section [role=alert]').waitFor();
      }),
  },
  { name: 'account-totp', reach: (page, site) => open(page, site, 'security/totp', 'main > .button') },
  { name: 'account-totp-code', reach: beginTotp },
  {
    name: 'account-totp-code-refused',
    reach: async (page, site) => {
      await beginTotp(page, site);
      await page.locator('#code').fill('12345');
      await page.locator('main form .button').click();
      await page.locator('#code-error').waitFor();
    },
  },
  {
    name: 'account-totp-ended',
    reach: async (page, site) => {
      await beginTotp(page, site);
      await site.latchkey.sql('delete from user_totp_enrolments');
      await page.locator('#code').fill('123456');
      await page.locator('main form .button').click();
      await page.locator('main [role=alert]').waitFor();
    },
  },
  {
    name: 'account-totp-codes',
    reach: async (page, site) => {
      await beginTotp(page, site);
      const answer = { completeTotpEnrolment: { status: 'ENROLLED', recoveryCodes: SAMPLE_CODES } };
      await respondingWith(page, 'CompleteTotpEnrolment', answer, async () => {
        await page.locator('#code').fill('123456');
        await page.locator('main form .button').click();
      });
      await page.locator('.recovery-codes').waitFor();
    },
  },
  { name: 'account-applications-none', reach: (page, site) => open(page, site, 'applications', '.empty-state') },
  {
    name: 'account-applications',
    reach: (page, site) =>
      withConsent(site, async () => {
        await open(page, site, 'applications', '.permissions-of');
        await page.locator('.permissions-of summary').first().click();
        await page.locator('.permissions').first().waitFor();
      }),
  },
  {
    name: 'account-application-revoke',
    reach: (page, site) => withConsent(site, () => askToRevoke(page, site, 'access')),
  },
  {
    name: 'account-consent-revoke',
    reach: (page, site) =>
      withConsent(site, async () => {
        await askToRevoke(page, site, 'permissions');
        await respondingWith(page, 'RevokeConsent', { revokeConsent: { status: 'NOT_FOUND' } }, () =>
          page.locator('dialog .button-danger').click(),
        );
        await page.locator('dialog .notice').waitFor();
      }),
  },
  { name: 'account-device-unknown', reach: (page, site) => open(page, site, 'devices/NOT/HERE', 'main code') },
  { name: 'account-not-found', reach: (page, site) => open(page, site, 'nothing', 'main h1') },
  {
    name: 'account-offline',
    reach: async (page, site) => {
      await open(page, site, '', '.fact-list');
      await page.evaluate(() => {
        Object.defineProperty(navigator, 'onLine', { value: false, configurable: true });
        dispatchEvent(new Event('offline'));
      });
      await page.locator('.notice-warning').waitFor();
    },
  },
];

/** Opens the details of a dynamically registered client, or of one with a published metadata document. */
async function openUnverifiedClient(page, site, documentUrl) {
  const [{ id }] = await site.latchkey.sql(
    `insert into oauth2_clients (id, is_static, metadata, created_at, document_url)
     select gen_random_uuid(), false, metadata, now(), $1::text from oauth2_clients where is_static limit 1
     returning id`,
    [documentUrl],
  );
  await open(page, site, `clients/oauth2_client:${ulid(id)}`, '.notice-warning');
  await site.latchkey.sql('delete from oauth2_clients where id = $1', [id]);
}

async function open(page, site, path, content) {
  await signInAtHome(page, site, 'bo');
  await look(page, site, path, content);
}

async function look(page, site, path, content) {
  await page.goto(`${site.base}account/${path}`);
  await page.locator(content).first().waitFor();
  await page.locator('.foot a').first().waitFor();
}

const ADDRESS = 'bo.of.the.long.harbour.on.the.other.side@mail.example';

async function openEmailDialog(page, site) {
  await open(page, site, '', '.section:has(.rows) > .button');
  await page.locator('.section:has(.rows) > .button').first().click();
  await page.locator('dialog #password').waitFor();
}

const SAMPLE_CODES = Array.from({ length: 10 }, (_, index) => `wmwm${index}-mwmw${index}`.replaceAll(/[01]/g, 'k'));

async function beginTotp(page, site) {
  await open(page, site, 'security/totp', 'main > .button');
  await page.locator('main > .button').click();
  await page.locator('.qr-code').waitFor();
}

/**
 * Opens a page while `bo` has an authenticator app. It is added after the sign-in, which would otherwise ask for a
 * code.
 */
async function withApp(page, site, path, work) {
  await open(page, site, path, 'main h2');
  await site.latchkey.sql(
    `insert into user_totp_secrets (id, user_id, secret_sealed, last_used_step, created_at, last_used_at)
     select gen_random_uuid(), u.id, '', 0, now(), now() from users u where u.username = 'bo'`,
  );
  await site.latchkey.sql(
    `insert into user_recovery_codes (id, user_id, code_hmac, created_at)
     select gen_random_uuid(), u.id, sha256(n::text::bytea), now() from users u, generate_series(1, 2) n
      where u.username = 'bo'`,
  );
  await look(page, site, path, 'h3');
  await work();
  await site.latchkey.sql('delete from user_totp_secrets');
  await site.latchkey.sql('delete from user_recovery_codes');
}

/** Uses an account action. */
async function openDeactivation(page, site, field = '#password') {
  await open(page, site, '?action=org.chat.account_deactivate', `dialog ${field}`);
}

/** Runs `work` while the page sees an account without a password. */
async function withoutPassword(page, work) {
  const address = '**/graphql';
  const answer = async (route) => {
    if (!route.request().postData()?.includes('UserProfile')) return await route.fallback();
    const response = await route.fetch();
    await route.fulfill({
      response,
      body: (await response.text()).replace('"hasPassword":true', '"hasPassword":false'),
    });
  };
  await page.route(address, answer);
  await work();
  await page.unroute(address, answer);
}

async function openSignOut(page, site) {
  await crowd(site, 'bo', 3, async () => {
    await open(page, site, 'security', '.section > .button-danger');
    await page.locator('.section > .button-danger').click();
    await page.locator('#other_browsers').waitFor();
  });
}

async function fillEmailDialog(page, email, password) {
  await page.locator('dialog #email').fill(email);
  await page.locator('dialog #password').fill(password);
  await page.locator('dialog form .button').first().click();
}

async function beginProof(page, site) {
  await site.latchkey.sql('delete from user_email_authentications where email = $1', [ADDRESS]);
  await openEmailDialog(page, site);
  await fillEmailDialog(page, ADDRESS, PASSWORD);
  await page.locator('#code').waitFor();
}

/** Runs `work` while `bo` has this number of addresses. */
async function withEmails({ latchkey }, count, work) {
  await latchkey.sql(
    `insert into user_emails (id, user_id, email, email_key, created_at)
     select gen_random_uuid(), u.id, n || $1, n || $1, now() from users u, generate_series(1, $2) n
      where u.username = 'bo'`,
    [`.${ADDRESS}`, count],
  );
  await work();
  await latchkey.sql(`delete from user_emails where email like $1`, [`%.${ADDRESS}`]);
}

/** Runs `work` while a data archive of `bo` exists, is being created, or has failed. */
async function withExport({ latchkey }, { bytes, hasFailed = false }, work) {
  const [{ id }] = await latchkey.sql(
    `insert into data_exports (id, user_id, created_at, archive, size_bytes, ready_at, failed_at, expires_at)
     select gen_random_uuid(), u.id, now(), case when $1::integer > 0 then 'made up'::bytea end, $1::integer,
            case when $1::integer > 0 then now() end, case when $2::boolean then now() end, now() + interval '7 days'
       from users u where u.username = 'bo'
     returning id`,
    [bytes ?? null, hasFailed],
  );
  await work();
  await latchkey.sql('delete from data_exports where id = $1', [id]);
}

const EVENTS = [
  ['login', {}],
  ['login_failed', { count: 14 }],
  ['logout', {}],
  ['reauthenticated', {}],
  ['sessions_ended', {}],
  ['password_changed', { admin: '01JD3Q5Z8W2N4K6M7P9R0S1T00' }],
  ['password_recovered', {}],
  ['recovery_started', {}],
  ['upstream_linked', { provider: 'Harbour Cooperative of the Other Side' }],
  ['upstream_unlinked', { provider: 'Harbour' }],
  ['session_started', {}],
  ['session_ended', { reason: 'inactive' }],
  ['application_revoked', {}],
  ['consent_given', {}],
  ['consent_revoked', {}],
  ['cross_signing_reset_allowed', {}],
  ['email_added', { email: 'b…@mail.example' }],
  ['email_removed', { email: `b…@${'of.the.long.harbour.'.repeat(4)}example` }],
  ['primary_email_changed', { email: 'b…@mail.example' }],
  ['display_name_changed', {}],
  ['account_locked', {}],
  ['account_unlocked', {}],
];
const ABOUT_APPLICATIONS = [
  'application_revoked',
  'consent_given',
  'consent_revoked',
  'session_ended',
  'session_started',
];
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

/** Runs `work` while the account of `bo` has events of every kind, with IPv4 and IPv6 addresses. */
async function withEvents({ latchkey }, work) {
  const added = await latchkey.sql(
    `insert into audit_events (id, kind, user_id, client_id, detail, ip, user_agent, created_at)
     select ${ID_AT}, e.event ->> 0, u.id,
            case when e.event ->> 0 = any($2) then (select id from oauth2_clients where is_static limit 1) end,
            e.event -> 1, case when n % 2 = 0 then '198.51.100.7' else '2001:db8:85a3:8d3:1319:8a2e:370:7348' end::inet,
            case when n % 5 > 0 then $3 end, at
       from users u, json_array_elements($1) with ordinality as e (event, n),
            lateral (select now() - n * interval '1 hour') t (at)
      where u.username = 'bo'
     returning id`,
    [JSON.stringify(EVENTS), ABOUT_APPLICATIONS, FIREFOX],
  );
  await work();
  await latchkey.sql('delete from audit_events where id = any($1)', [added.map(({ id }) => id)]);
}

/** Opens the dialog that removes the access of the application on the page, or the one that resets its permissions. */
async function askToRevoke(page, site, what) {
  await open(page, site, 'applications', '.permissions-of');
  if (what === 'permissions') await page.locator('.permissions-of summary').click();
  await page.locator(what === 'permissions' ? '.permissions-of .button' : '.session > .button-quiet').click();
  await page.locator('dialog .button-danger').waitFor();
}

/** Runs `work` while `bo` uses an application with many granted scopes. */
async function withConsent(site, work) {
  const scopes = `{openid,email,urn:mas:graphql:*,urn:matrix:client:device:AAAA,${LONG_SCOPE}}`;
  const [{ id }] = await site.latchkey.sql(
    `insert into oauth2_consents (user_id, client_id, scope, created_at, updated_at)
     select u.id, c.id, $1::text[], now(), now() from users u, oauth2_clients c
      where u.username = 'bo' and c.is_static
     returning id`,
    [scopes],
  );
  await crowd(site, 'bo', 2, async () => {
    await site.latchkey.sql(
      `update oauth2_sessions set scope = $1::text[], last_active_at = now() - interval '3 days'
        where user_id = (select id from users where username = 'bo')`,
      [scopes],
    );
    await work();
  });
  await site.latchkey.sql('delete from oauth2_consents where id = $1', [id]);
}

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Returns an ID in the format of the account API. */
function ulid(uuid) {
  let rest = BigInt(`0x${uuid.replaceAll('-', '')}`);
  let text = '';
  for (let place = 0; place < 26; place += 1, rest >>= 5n) text = DIGITS[Number(rest & 31n)] + text;
  return text;
}

/** Opens the linked accounts on the service with providers. */
async function openLinked(page, site, username = 'amira', shown = '.session .button') {
  await signInAtHome(page, { base: site.upstreamBase }, username);
  await page.goto(`${site.upstreamBase}account/linked-accounts`);
  await page.locator(shown).first().waitFor();
  await page.locator('.foot a').first().waitFor();
}

const STRANGER = 'https://stranger.example/';

/**
 * The framed page reports its height. Messages from a nested frame of another origin and from the outer page must be
 * ignored.
 */
async function openPlan(page, site) {
  const answer = (text) => (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: `<!doctype html><html lang="en"><meta name="color-scheme" content="light dark"><title>Plan</title>${text}`,
    });
  await page.route(PLAN, answer(`<p>Harbour plan</p><iframe src="${STRANGER}" title="Offers"></iframe>`));
  await page.route(STRANGER, answer('<p>Offers</p>'));
  await open(page, site, 'plan', '.plan-frame');
  await page.waitForFunction(() => window.frames[0]?.frames.length === 1);
  const frameAt = async (url) => {
    const frame = page.frames().find((one) => one.url() === url);
    await frame.waitForLoadState();
    return frame;
  };
  const [plan, stranger] = [await frameAt(PLAN), await frameAt(STRANGER)];
  const heights = () => page.evaluate(() => globalThis.heightsSeen);
  await page.locator('.plan-frame').evaluate((frame) => {
    globalThis.heightsSeen = [frame.getAttribute('height')];
    const note = () => globalThis.heightsSeen.push(frame.getAttribute('height'));
    new MutationObserver(note).observe(frame, { attributeFilter: ['height'] });
  });
  await plan.evaluate(() => parent.postMessage({ height: 300 }, '*'));
  await page.locator('.plan-frame[height="300"]').waitFor();
  await stranger.evaluate(() => top.postMessage({ height: 900 }, '*'));
  await page.evaluate(() => postMessage({ height: 901 }, '*'));
  await plan.evaluate(() => parent.postMessage({ height: 320 }, '*'));
  await page.locator('.plan-frame[height="320"]').waitFor();
  assert.deepEqual(await heights(), ['500', '300', '320']);
}
