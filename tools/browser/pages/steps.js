/** Steps to reach several pages. Elements are found by their names, which are the same in every language. */
import { PASSWORD } from '../settings.js';

/** Submits a form of the current page and waits for the response page. */
export async function send(page, fields, button = 'main form button[type=submit]') {
  for (const [name, value] of Object.entries(fields))
    await page.locator(`:is(input, textarea)[name="${name}"]`).fill(value);
  const isLoaded = page.waitForEvent('load');
  await page.locator(button).last().click();
  await isLoaded;
}

export async function signIn(page, username) {
  // The page may have another form, for passkeys.
  await send(page, { username, password: PASSWORD }, 'main form:has([name=password]) button[type=submit]');
}

/** Signs in without a request from a client. */
export async function signInAtHome(page, { base }, username) {
  await page.goto(`${base}login`);
  await signIn(page, username);
}

/** Arrives from a client with an authorization request. */
export async function arrive(page, { relyingParty }, username, parameters = {}) {
  const { address } = await relyingParty.begin({ prompt: 'consent', ...parameters });
  await page.goto(address);
  await signIn(page, username);
}

/** Posts a form that no page contains, from this site. */
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

/** Runs `work` while a user has this number of client sessions. */
export async function crowd({ latchkey }, username, sessions, work) {
  const opened = await latchkey.sql(
    `insert into oauth2_sessions (id, user_id, client_id, scope, refresh_family, created_at)
     select gen_random_uuid(), u.id, c.id, array['openid'], sha256(n::text::bytea), now()
       from users u, oauth2_clients c, generate_series(1, $2) n
      where u.username = $1 and c.is_static
     returning id`,
    [username, sessions],
  );
  await work();
  await latchkey.sql('delete from oauth2_sessions where id = any($1)', [opened.map(({ id }) => id)]);
}

/** Runs `work` that changes the password of `faro`, and restores it for the next page. */
export async function keepingPassword({ latchkey }, work) {
  const own = `select id from users where username = 'faro'`;
  const [password] = await latchkey.sql(`select * from user_passwords where user_id = (${own})`);
  await work();
  await latchkey.sql(`delete from user_passwords where user_id = (${own})`);
  await latchkey.sql('insert into user_passwords select * from json_populate_record(null::user_passwords, $1)', [
    JSON.stringify(password),
  ]);
}
