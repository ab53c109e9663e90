import { postForm, signInAtHome } from './steps.js';

/** Error pages that any URL may return. */
export const problemPages = [
  {
    name: 'not-found',
    status: 404,
    codes: ['not_found'],
    reach: (page, { base }) => page.goto(`${base}no/such/page`),
  },
  {
    name: 'form-refused',
    status: 403,
    codes: ['csrf_missing'],
    reach: async (page, { base }) => {
      await page.goto(`${base}login`);
      await page.context().clearCookies();
      await postForm(page, `${base}login`, { username: 'amira' });
    },
  },
  {
    name: 'method-not-allowed',
    status: 405,
    codes: ['method_not_allowed'],
    reach: async (page, { base }) => {
      await page.goto(base);
      await postForm(page, base, {});
    },
  },
  {
    name: 'malformed',
    status: 400,
    codes: ['malformed_request'],
    reach: async (page, { base }) => {
      await page.goto(`${base}login`);
      await postForm(page, `${base}login`, { username: '\u0000' });
    },
  },
  {
    name: 'database-away',
    status: 503,
    codes: ['temporarily_unavailable'],
    reach: async (page, site) => {
      await signInAtHome(page, site, 'amira');
      await site.latchkey.withoutDatabase(() => page.goto(site.base));
    },
  },
];
