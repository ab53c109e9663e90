import assert from 'node:assert/strict';
import { signInAtProvider } from '../upstream-provider.js';
import { leaveFor, UPSTREAM_IDS } from '../upstream-services.js';
import { signInAtHome } from './steps.js';

/** Pages on the way back from another service. */
export const upstreamSignInPages = [
  { name: 'upstream-buttons', reach: (page, { upstreamBase }) => page.goto(`${upstreamBase}login`) },
  {
    name: 'upstream-continue',
    isScriptWithheld: true,
    reach: async (page, site) => {
      await comeAs(page, site, 'amira');
      await page.waitForURL(/\/upstream\/link\//);
    },
  },
  {
    name: 'upstream-signed-in',
    reach: async (page, site) => {
      await comeAs(page, site, 'amira');
      // The page submits its form automatically.
      await page.waitForURL(site.upstreamBase);
      assert.match(await page.locator('main').innerText(), /amira/);
    },
  },
  {
    name: 'upstream-link',
    reach: async (page, site) => {
      await signInAtHome(page, at(site), 'bo');
      await comeAs(page, site, 'somebody-new');
      await page.waitForURL(/\/upstream\/link\//);
    },
  },
  {
    name: 'upstream-mismatch',
    reach: async (page, site) => {
      await signInAtHome(page, at(site), 'bo');
      await comeAs(page, site, 'amira');
      await page.waitForURL(/\/upstream\/link\//);
    },
  },
  {
    name: 'upstream-cancelled',
    reach: async (page, site) => {
      await leaveFor(page, site);
      await page.locator('a[href*=abort]').click();
      await page.waitForURL(/\/login/);
    },
  },
  {
    name: 'upstream-refused',
    status: 400,
    codes: ['upstream_error'],
    reach: async (page, site) => {
      const state = await begin(page, site);
      const description = 'The client is not allowed to ask for this. <b>Tell your administrator.</b>';
      await callBack(page, site, { state, error: 'unauthorized_client', error_description: description });
    },
  },
  {
    name: 'upstream-wrong-code',
    status: 502,
    codes: ['upstream_invalid_response'],
    reach: async (page, site) =>
      callBack(page, site, { state: await begin(page, site), code: 'x', iss: site.upstream.issuer }),
  },
  {
    name: 'upstream-other-browser',
    status: 400,
    codes: ['upstream_session_missing'],
    reach: (page, site) => callBack(page, site, { state: 'x', code: 'x' }),
  },
  {
    name: 'upstream-away',
    status: 502,
    codes: ['upstream_unavailable'],
    reach: (page, { upstreamBase }) => page.goto(`${upstreamBase}upstream/authorize/${UPSTREAM_IDS.away}`),
  },
  {
    name: 'upstream-link-gone',
    status: 404,
    codes: ['upstream_link_not_found'],
    reach: (page, { upstreamBase }) => page.goto(`${upstreamBase}upstream/link/01HZX7T3Q8V3M5N6P7R8S9T0AB`),
  },
];

function at({ upstreamBase }) {
  return { base: upstreamBase };
}

/** Goes to the other service and back, as a user with this name there. */
async function comeAs(page, site, login) {
  await leaveFor(page, site);
  await signInAtProvider(page, login);
}

/** @returns the state of a sign-in that this browser has started */
async function begin(page, site) {
  const asked = page.waitForRequest((request) => new URL(request.url()).searchParams.has('code_challenge'));
  await leaveFor(page, site);
  return new URL((await asked).url()).searchParams.get('state');
}

async function callBack(page, { upstreamBase }, answer) {
  await page.goto(`${upstreamBase}upstream/callback/${UPSTREAM_IDS.there}?${new URLSearchParams(answer)}`);
}

/**
 * Links `amira` to the user with this name at two of the services, and `bo`, who is not an administrator, at one of
 * them.
 */
export async function linkAccounts(latchkey) {
  await latchkey.sql(
    `insert into upstream_links (id, provider_id, user_id, subject, created_at)
     select gen_random_uuid(), p.id, u.id, u.username, now()
       from users u, upstream_providers p
      where (u.username = 'amira' and p.human_name = 'Quayside Club')
         or (u.username in ('amira', 'bo') and p.human_name = 'Net Loft')`,
  );
}
