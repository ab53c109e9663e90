import { signInAtProvider } from '../upstream-provider.js';
import { leaveFor, UPSTREAM_IDS } from '../upstream-services.js';
import { send, signInAtHome } from './steps.js';

const { deciding, silent, linking, closed } = UPSTREAM_IDS;

/** Pages for users of another service without an account here. */
export const upstreamRegisterPages = [
  { name: 'upstream-choice', reach: (page, { upstreamBase }) => page.goto(`${upstreamBase}register`) },
  {
    name: 'upstream-choice-preview',
    reach: async (page, { upstreamBase }) => {
      await page.goto(`${upstreamBase}register`);
      await page.locator('[name=username]').fill('amira-okafor');
      await page.locator('bdi', { hasText: '@amira-okafor:example.org' }).waitFor();
    },
  },
  {
    name: 'upstream-choice-refused',
    codes: ['unknown_provider'],
    reach: async (page, { upstreamBase }) => {
      await page.goto(`${upstreamBase}register`);
      await page.locator('main form').evaluate((form) => {
        form.append(
          Object.assign(document.createElement('input'), { name: 'provider', value: 'gone', type: 'hidden' }),
        );
      });
      await send(page, { username: 'amira-okafor' });
    },
  },
  { name: 'upstream-register-suggested', reach: (page, site) => comeNew(page, site, 'nadia.berg') },
  {
    name: 'upstream-register-long',
    reach: (page, site) => comeNew(page, site, 'maximiliane.von.und.zu.hohenstein-schwarzenberg'),
  },
  { name: 'upstream-register-decided', reach: (page, site) => comeNew(page, site, 'nadia.berg', deciding) },
  {
    name: 'upstream-register-refused',
    codes: ['exists', 'required'],
    reach: async (page, site) => {
      await comeNew(page, site, 'nadia.berg');
      await page.locator('[name=import_email]').uncheck();
      await send(page, { username: 'bo' });
    },
  },
  {
    name: 'upstream-login-to-link',
    reach: async (page, site) => {
      await comeNew(page, site, 'nadia.berg');
      await page.locator('.alternative a').click();
      await page.waitForURL(/\/login\?/);
    },
  },
  {
    name: 'upstream-link-named',
    reach: async (page, site) => {
      await signInAtHome(page, { base: site.upstreamBase }, 'amira');
      await comeNew(page, site, 'nadia.berg');
    },
  },
  {
    name: 'upstream-linking-refused',
    reach: async (page, site) => {
      await signInAtHome(page, { base: site.upstreamBase }, 'amira');
      await comeNew(page, site, 'nadia.berg', closed);
    },
  },
  { name: 'upstream-no-account', reach: (page, site) => comeNew(page, site, 'nadia.berg', closed) },
  { name: 'upstream-no-account-link', reach: (page, site) => comeNew(page, site, 'nadia.berg', linking) },
  {
    name: 'upstream-name-taken',
    status: 409,
    codes: ['upstream_user_exists'],
    reach: (page, site) => comeNew(page, site, 'bo', deciding),
  },
  {
    name: 'upstream-name-linked',
    status: 409,
    codes: ['upstream_user_has_link'],
    reach: (page, site) => comeNew(page, site, 'bo@elsewhere.example', linking),
  },
  {
    name: 'upstream-name-rejected',
    status: 409,
    codes: ['upstream_username_rejected'],
    reach: (page, site) => comeNew(page, site, 'Nadia Berg', deciding),
  },
  {
    name: 'upstream-claim-missing',
    status: 422,
    codes: ['upstream_claim_missing'],
    reach: (page, site) => comeNew(page, site, 'nadia.berg', silent),
  },
];

/** Arrives from a service where the user has an account. */
async function comeNew(page, site, login, id) {
  await leaveFor(page, site, id);
  await signInAtProvider(page, login);
  await page.waitForURL(/\/upstream\/link\//);
}
