import assert from 'node:assert/strict';

/** The start page of the admin area: figures, plots with their tables, and what to see without them. */
export async function seeOverview(inArea, { latchkey, ...how }) {
  await fillSeries(latchkey);
  await inArea({ latchkey, ...how }, '', async (page) => {
    const scripts = [];
    page.on('request', (request) => request.resourceType() === 'script' && scripts.push(request.url()));
    await page.reload();
    await page.locator('.figure').first().waitFor();
    await drawn(page);
    assert.equal(await page.locator('nav a[aria-current=page]').innerText(), 'Overview');
    await page.getByText('Command line').first().waitFor();

    const signIns = page.locator('.plot-card').first();
    assert.match(await signIns.innerText(), /^Sign-ins per day \(UTC\)/);
    const total = await signIns.locator('.figure-value').innerText();
    await signIns.locator('summary').focus();
    await page.keyboard.press('Enter');
    const cells = await signIns.locator('tbody td').allInnerTexts();
    assert.equal(cells.length, 7);
    const sum = cells.reduce((all, cell) => all + Number(cell.replaceAll(',', '')), 0);
    assert.equal(total, `${sum.toLocaleString('en')} in total`);

    for (const [name, points] of [
      ['24 hours', 24],
      ['90 days', 90],
    ]) {
      await page.getByRole('link', { name }).click();
      await page.waitForURL(/range=/);
      await page.waitForFunction(
        (count) => document.querySelectorAll('.plot-card:first-child tbody tr').length === count,
        points,
      );
      await drawn(page);
    }
    await page.goBack();
    await page.waitForURL(/range=day/);
    const before = scripts.length;
    await page.getByRole('link', { name: 'Users', exact: true }).click();
    await page.locator('table.data tbody tr').nth(1).waitFor();
    assert.ok(!(await page.locator('.uplot').count()), 'another page has no plot');
    assert.ok(scripts.length >= before);

    // A series that fails does not take the rest with it.
    await page.route('**/statistics/series?metric=registrations*', (route) => route.abort());
    await page.goto(`${latchkey.base}admin/?range=quarter`);
    const failed = page.locator('.plot-card').nth(2);
    await failed.getByRole('button', { name: 'Retry' }).waitFor();
    await page.unroute('**/statistics/series?metric=registrations*');
    await failed.getByRole('button', { name: 'Retry' }).click();
    await drawn(page);
  });
}

/** Waits until every plot has a line. */
export async function drawn(page) {
  await page.waitForFunction(() => {
    const canvases = [...document.querySelectorAll('.plot canvas')];
    return (
      canvases.length === 4 &&
      canvases.every((canvas) =>
        canvas
          .getContext('2d')
          .getImageData(0, 0, canvas.width, canvas.height)
          .data.some((value) => value > 0),
      )
    );
  });
}

/** Figures of a quarter of a year, as the job would have written them. */
export async function fillSeries(latchkey) {
  await latchkey.sql(
    `insert into statistics_buckets (metric, step, client_id, started_at, value)
     select metric, 'day', '00000000-0000-0000-0000-000000000000', day,
            greatest(1, round(weight * (20 + 8 * sin(extract(doy from day) / 3.0) + extract(dow from day))))
       from unnest(array['sign_ins', 'sign_in_failures', 'registrations', 'active_users'],
                   array[40.0, 3.0, 0.4, 25.0]) as m (metric, weight),
            generate_series(date_trunc('day', now(), 'UTC') - interval '95 days',
                            date_trunc('day', now(), 'UTC') - interval '1 day', interval '1 day') day
     on conflict do nothing`,
  );
  await latchkey.sql(
    `insert into statistics_buckets (metric, step, client_id, started_at, value)
     select metric, 'hour', '00000000-0000-0000-0000-000000000000', hour, 5 + extract(hour from hour)
       from unnest(array['sign_ins', 'sign_in_failures', 'registrations']) as m (metric),
            generate_series(date_trunc('hour', now()) - interval '30 hours', date_trunc('hour', now()) - interval '4 hours',
                            interval '1 hour') hour
     on conflict do nothing`,
  );
}
