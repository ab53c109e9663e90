import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { examine, inArea, rows } from './admin-area-journey.js';

/** The pages Audit, Sessions and Jobs. */
export async function watchService(checks, how) {
  await fill(how.latchkey);
  await checks.that('audit events are filtered by username, shown, and exported', () => readAudit(how));
  await checks.that('a search that examined too many events can be continued', () => continueSearch(how));
  await checks.that('sessions are listed by kind, and ended one by one and together', () => endSessions(how));
  await checks.that('a failed job shows its error, and is retried or canceled', () => workOnJobs(how));
  for (const locale of ['en', 'ar']) {
    await checks.that(`audit, sessions and jobs are accessible in every look (${locale})`, () =>
      examineAll(how, locale),
    );
  }
}

async function fill(latchkey) {
  await latchkey.sql(
    `insert into audit_events (id, kind, user_id, ip, user_agent, detail, created_at)
     select ('0190' || lpad(to_hex(n), 4, '0') || '-0000-7000-8000-000000000000')::uuid, 'login', u.id, '192.0.2.7',
            '=HYPERLINK("https://evil.example")', '{"method": "password"}', now() - n * interval '1 minute'
       from generate_series(1, 70) n, users u where u.username = 'crew-9'`,
  );
  await latchkey.sql(
    `insert into user_sessions (id, user_id, key_hash, authenticated_at, created_at, last_active_ip, user_agent)
     select gen_random_uuid(), u.id, sha256(u.username::bytea), now(), now(), '192.0.2.7', u.username || '-browser/1.0 (X11; Linux)'
       from users u where u.username like 'crew-1%'`,
  );
  // No process takes jobs of a queue that it does not know.
  await latchkey.sql(
    `insert into queue_jobs (id, queue, payload, due_at, attempt, failed_at, failed_reason, created_at)
     select gen_random_uuid(), 'retired-queue', '{"user_id": "x"}', now(), 11, now(), '535 authentication failed', now()
       from generate_series(1, 2)`,
  );
}

async function readAudit(how) {
  await inArea(how, 'audit', async (page) => {
    await rows(page).first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('nobody-here');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'No user has this name.' }).waitFor();
    const user = page.getByLabel('User', { exact: true });
    assert.ok(await user.evaluate((input) => input === document.activeElement));
    await user.fill('crew-9');
    await page.getByLabel('Event').selectOption('login');
    await page.getByRole('button', { name: 'Apply filters' }).click();
    await page.waitForURL(/user=[0-9A-Z]{26}.*kind=login/);
    await rows(page).nth(49).waitFor();
    await rows(page).filter({ hasText: 'Signed in' }).first().waitFor();
    await page.getByRole('link', { name: 'Older' }).click();
    await rows(page).nth(20).waitFor({ state: 'detached' });
    assert.equal(await rows(page).count(), 20);
    await page.evaluate(() => Reflect.deleteProperty(window, 'showSaveFilePicker'));
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ]);
    const lines = readFileSync(await download.path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    assert.equal(lines.length, 71);
    assert.match(lines[1], /"'=HYPERLINK/);
    await page.getByRole('status').filter({ hasText: 'Exported as audit-events-' }).waitFor();
    await page.goto(`${how.latchkey.base}admin/audit?kind=admin_action`);
    await page.getByText('Audit events exported').first().waitFor();
    await rows(page).first().locator('a').first().click();
    await page.getByRole('heading', { level: 1, name: 'Event' }).waitFor();
    await page.getByText('exportAuditEvents').waitFor();
  });
}

async function continueSearch(how) {
  await inArea(how, 'users', async (page) => {
    let asked = 0;
    await page.route('**/api/admin/v1/audit-events?**', async (route) => {
      asked += 1;
      const data = [];
      const links = asked === 1 ? { next: '/api/admin/v1/audit-events?page[after]=01JD3Q5Z8W2N4K6M7P9R0S1T00' } : {};
      await route.fulfill({ json: { data, links } });
    });
    await page.goto(`${how.latchkey.base}admin/audit?outcome=failed`);
    await page.getByText('No match among the events searched so far.').waitFor();
    await page.getByRole('link', { name: 'Continue searching' }).click();
    await page.waitForURL(/before=01JD3Q5Z8W2N4K6M7P9R0S1T00/);
    await page.getByText('No events match.').waitFor();
    await page.getByRole('link', { name: 'Newest' }).waitFor();
  });
}

async function endSessions(how) {
  await inArea(how, 'sessions', async (page) => {
    await page.getByRole('link', { name: 'Browsers' }).click();
    await page.waitForURL(/tab=browsers/);
    await page.getByText('crew-10-browser · Linux').waitFor();
    await page.getByLabel('User', { exact: true }).fill('crew-10');
    await page.getByRole('button', { name: 'Apply filters' }).click();
    await page.waitForURL(/user=.*tab=browsers/);
    await rows(page).nth(1).waitFor({ state: 'detached' });
    await page.getByLabel('IP address').fill('192.0.2.0/24');
    await page.getByRole('button', { name: 'Apply filters' }).click();
    await page.waitForURL(/address=192\.0\.2\.0%2F24/);
    await rows(page).first().waitFor();
    await page.getByRole('button', { name: 'End session: crew-10' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End session' }).click();
    await page.getByRole('status').filter({ hasText: 'The session of crew-10 has ended.' }).waitFor();
    await page.getByText('No sessions match.').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByLabel('Select crew-11').check();
    await page.getByLabel('Select crew-12').check();
    await page.getByRole('button', { name: 'End sessions' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End sessions' }).click();
    await page.getByRole('status').filter({ hasText: '2 sessions have ended.' }).waitFor();
    await page.getByText('crew-11-browser · Linux').waitFor({ state: 'detached' });
  });
}

async function workOnJobs(how) {
  await inArea(how, 'jobs?status=dead', async (page) => {
    await page.getByText('535 authentication failed').first().waitFor();
    for (const [button, result] of [
      ['Retry job', 'is due now.'],
      ['Cancel job', 'is canceled.'],
    ]) {
      await page
        .getByRole('button', { name: `${button}: retired-queue` })
        .first()
        .click();
      await page.getByRole('dialog').getByRole('button', { name: button }).click();
      await page
        .getByRole('status')
        .filter({ hasText: `retired-queue ${result}` })
        .waitFor();
    }
    await page.getByText('No jobs match.').waitFor();
  });
}

async function examineAll(how, locale) {
  await inArea(
    how,
    'audit',
    async (page) => {
      await rows(page).first().waitFor();
      await examine(how, page, `admin-audit-${locale}`);
      await rows(page).first().locator('a').first().click();
      await page.locator('.fact-list').waitFor();
      await examine(how, page, `admin-audit-event-${locale}`);
      await page.goto(`${how.latchkey.base}admin/sessions?tab=browsers`);
      await rows(page).first().waitFor();
      await examine(how, page, `admin-sessions-${locale}`);
      await page.locator('tbody .button').first().click();
      await page.locator('dialog[open]').waitFor();
      await examine(how, page, `admin-sessions-dialog-${locale}`);
      await page.goto(`${how.latchkey.base}admin/jobs`);
      await rows(page).first().waitFor();
      await examine(how, page, `admin-jobs-${locale}`);
    },
    { locale },
  );
}
