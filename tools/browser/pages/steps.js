/** What several pages are reached by. Elements are found by their names, which are the same in every language. */
import { PASSWORD } from '../settings.js';

/** Sends a form of the page shown and waits for the page that answers it. */
export async function send(page, fields, button = 'main form button[type=submit]') {
  for (const [name, value] of Object.entries(fields)) await page.locator(`[name="${name}"]`).fill(value);
  const isLoaded = page.waitForEvent('load');
  await page.locator(button).last().click();
  await isLoaded;
}

export async function signIn(page, username) {
  await send(page, { username, password: PASSWORD });
}

/** Signs in for its own sake. */
export async function signInAtHome(page, { base }, username) {
  await page.goto(`${base}login`);
  await signIn(page, username);
}

/** Comes from an application with a request that is to be decided about. */
export async function arrive(page, { relyingParty }, username, parameters = {}) {
  const { address } = await relyingParty.begin({ prompt: 'consent', ...parameters });
  await page.goto(address);
  await signIn(page, username);
}

/** Posts a form that no page shows, from this site. */
export async function postForm(page, address, fields) {
  const isLoaded = page.waitForEvent('load');
  await page.evaluate(
    ([action, values]) => {
      const form = Object.assign(document.createElement('form'), { method: 'post', action });
      for (const [name, value] of Object.entries(values)) {
        form.append(Object.assign(document.createElement('input'), { name, value, type: 'hidden' }));
      }
      document.body.append(form);
      form.submit();
    },
    [address, fields],
  );
  await isLoaded;
}
