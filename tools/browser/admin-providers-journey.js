import assert from 'node:assert/strict';
import { addAdministrator, examine, examinedLocales, inArea, rows } from './admin-area-journey.js';
import { tabTo } from './keyboard.js';
import { upstreamSettings } from './settings.js';
import { UPSTREAM_IDS } from './upstream-services.js';

const REMOVED = '01975c00-0000-7000-8000-000000000001';

/** The service has a provider that works, one that is unreachable, and one that is disabled. */
export function watchedSettings(callback, upstream) {
  const there = upstream.settings(UPSTREAM_IDS.there);
  return upstreamSettings(callback, [
    there,
    upstream.settings(UPSTREAM_IDS.away, { issuer: 'http://127.0.0.1:1', human_name: 'Lighthouse' }),
    upstream.settings(UPSTREAM_IDS.closed, { enabled: false, human_name: 'Dry dock' }),
  ]);
}

/** The pages of sign-in providers, and the findings of the start page. */
export async function watchProviders(checks, how) {
  await addAdministrator(how.latchkey);
  await addLinks(how.latchkey);
  await checks.that('an administrator checks sign-in providers by keyboard', () => checkByKeyboard(how));
  await checks.that('the start page shows a provider that fails, with what to do', () => seeFindings(how));
  for (const locale of examinedLocales(how)) {
    await checks.that(`the pages of providers are accessible in every look (${locale})`, () =>
      examineProviders(how, locale),
    );
  }
}

/** More links than a page shows, at a provider that was removed. */
async function addLinks(latchkey) {
  await latchkey.sql(
    `insert into upstream_providers (id, human_name, client_id, ui_order, created_at, disabled_at)
     values ($1::uuid, '<b>Old pier</b>', 'old', 9, now(), now())`,
    [REMOVED],
  );
  await latchkey.sql(
    `insert into users (id, username, username_key, created_at)
     select gen_random_uuid(), 'mate-' || n, 'mate-' || n, now() from generate_series(1, 30) n`,
  );
  await latchkey.sql(
    `insert into upstream_links (id, provider_id, subject, user_id, human_account_name, created_at)
     select gen_random_uuid(), $1::uuid, 'subject of ' || username, id, username || '@pier.example', now()
       from users where username like 'mate-%'`,
    [REMOVED],
  );
}

async function check(page, result) {
  await tabTo(page, page.getByRole('button', { name: 'Check now' }));
  await page.keyboard.press('Enter');
  await page.getByRole('status').filter({ hasText: result }).waitFor();
}

async function checkByKeyboard(how) {
  await inArea(how, 'providers', async (page, context) => {
    await rows(page).nth(3).waitFor();
    await tabTo(page, page.getByRole('link', { name: 'Quayside Club' }));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Quayside Club' }).waitFor();
    await check(page, 'No problem was found with Quayside Club.');
    await page.getByText('RSA 2048').first().waitFor();
    await page.getByText('No user is linked').waitFor();

    await context.setOffline(true);
    await page.getByRole('button', { name: 'Check now' }).click();
    await page.getByRole('alert').filter({ hasText: 'Could not connect' }).waitFor();
    await context.setOffline(false);

    await page.goto(`${how.latchkey.base}admin/providers/${UPSTREAM_IDS.away}`);
    await check(page, 'A problem was found with Lighthouse.');
    await page.getByText('The connection to the discovery URL failed.').waitFor();

    await page.goto(`${how.latchkey.base}admin/providers`);
    await page.getByLabel('Use').selectOption('false');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL(/enabled=false/);
    await rows(page).nth(2).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Old pier' }).click();
    await page.getByText('no longer contains this provider').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Check now' }).count(), 0);
    await rows(page).nth(24).waitFor();
    await page.getByRole('link', { name: 'Next' }).click();
    await page.waitForURL(/after=/);
    await rows(page).nth(5).waitFor({ state: 'detached' });
    await rows(page).first().getByRole('link').click();
    await page.waitForURL(/\/admin\/users\//);
  });
}

async function seeFindings(how) {
  await inArea(how, '', async (page) => {
    const finding = page.locator('.finding').filter({ hasText: 'Lighthouse' });
    await finding.getByText('Error').waitFor();
    await finding.getByText('Check the issuer.').waitFor();
    await finding.getByRole('link', { name: 'Sign-in provider' }).click();
    await page.getByRole('heading', { level: 1, name: 'Lighthouse' }).waitFor();

    await page.route('**/health-findings', (route) => route.abort());
    await page.goto(`${how.latchkey.base}admin/`);
    const health = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Health' }) });
    await health.getByRole('button', { name: 'Retry' }).waitFor();
    await page.unroute('**/health-findings');
    await health.getByRole('button', { name: 'Retry' }).click();
    await page.locator('.finding').first().waitFor();

    await page.route('**/health-findings', (route) =>
      route.fulfill({ json: { data: { checked_at: '2026-11-29T10:00:00.000000Z', findings: [] } } }),
    );
    await page.reload();
    await page.getByText('No problems were found.').waitFor();
    await page.unroute('**/health-findings');
  });
}

/** Every page in every look, with pictures. */
async function examineProviders(how, locale) {
  await inArea(
    how,
    'providers',
    async (page) => {
      await rows(page).nth(3).waitFor();
      await examine(how, page, `admin-providers-${locale}`);
      for (const [id, name] of [
        [UPSTREAM_IDS.away, 'failing'],
        [UPSTREAM_IDS.closed, 'disabled'],
      ]) {
        await page.goto(`${how.latchkey.base}admin/providers/${id}`);
        await page.locator('.fact-list').waitFor();
        await page.waitForFunction(() => document.querySelector('.loading') === null);
        await examine(how, page, `admin-provider-${name}-${locale}`);
      }
      // Without plots, which another journey examines.
      await page.route('**/statistics/series*', (route) => route.abort());
      await page.goto(`${how.latchkey.base}admin/`);
      await page.locator('.finding').first().waitFor();
      await examine(how, page, `admin-health-${locale}`);
    },
    { locale },
  );
}
