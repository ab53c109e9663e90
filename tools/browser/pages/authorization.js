import { createHash } from 'node:crypto';
import { BANNED_USER_AGENT, LONG_SCOPE } from '../settings.js';
import { arrive, crowd, postForm, send, signInAtHome } from './steps.js';

const EVERYTHING = [
  ...['openid', 'profile', 'email', 'offline_access', 'urn:latchkey:admin', 'urn:synapse:admin:*'],
  LONG_SCOPE,
].join(' ');

const LONG_NAME = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';

/** Pages where a user decides about a client's request, and its possible results. */
export const authorizationPages = [
  { name: 'consent', reach: (page, site) => arrive(page, site, 'amira') },
  {
    name: 'consent-dangerous',
    reach: async (page, site) => {
      const client_id = await selfRegisteredClient(site, LONG_NAME);
      await arrive(page, site, 'amira', { client_id, scope: EVERYTHING });
    },
  },
  {
    name: 'consent-nameless',
    reach: async (page, site) => {
      await arrive(page, site, 'bo', { client_id: await selfRegisteredClient(site), scope: 'openid' });
    },
  },
  {
    name: 'consent-published',
    reach: async (page, site) => {
      await arrive(page, site, 'bo', { client_id: await publishedClient(site, LONG_NAME), scope: 'openid' });
    },
  },
  {
    name: 'consent-without-choice',
    codes: ['invalid_action'],
    reach: async (page, site) => {
      await arrive(page, site, 'amira');
      await page.locator('[value=consent]').evaluate((button) => button.removeAttribute('value'));
      await send(page, {}, '.buttons [name=action]:not([value=cancel])');
    },
  },
  {
    name: 'consent-forbidden',
    status: 403,
    codes: ['admin-scope'],
    reach: (page, site) => arrive(page, site, 'bo', { scope: 'openid urn:latchkey:admin' }),
  },
  {
    name: 'consent-requester-banned',
    status: 403,
    codes: ['requester-banned'],
    userAgent: BANNED_USER_AGENT,
    reach: (page, site) => arrive(page, site, 'amira'),
  },
  {
    name: 'consent-too-many-sessions',
    status: 403,
    codes: ['too-many-sessions'],
    reach: (page, site) => crowd(site, 'bo', 2, () => arrive(page, site, 'bo')),
  },
  {
    name: 'consent-banned-and-more',
    userAgent: BANNED_USER_AGENT,
    status: 403,
    codes: ['requester-banned', 'admin-scope', 'too-many-sessions'],
    reach: async (page, site) => {
      const client_id = await selfRegisteredClient(site, LONG_NAME);
      await crowd(site, 'bo', 3, () => arrive(page, site, 'bo', { client_id, scope: EVERYTHING }));
    },
  },
  {
    name: 'consent-of-another-account',
    reach: async (page, site) => {
      const [{ id }] = await site.latchkey.sql(`select id from users where username = 'faro'`);
      await arrive(page, site, 'amira', expecting(idText(id)));
    },
  },
  {
    name: 'consent-of-account-gone',
    reach: (page, site) => arrive(page, site, 'amira', expecting('01JD3Q5Z8W2N4K6M7P9R0S1T2V')),
  },
  {
    name: 'consent-pressed-twice',
    status: 409,
    codes: ['already_used'],
    reach: async (page, site) => {
      await arrive(page, site, 'amira');
      await page.goto(await decide(page));
    },
  },
  {
    name: 'request-already-used',
    status: 409,
    codes: ['already_used'],
    reach: async (page, site) => {
      await arrive(page, site, 'amira');
      const address = await decide(page);
      const earlier = `update oauth2_authorization_grants set fulfilled_at = fulfilled_at - interval '1 hour'`;
      await site.latchkey.sql(`${earlier} where fulfilled_at is not null`);
      await page.goto(address);
    },
  },
  { name: 'request-expired', status: 410, codes: ['expired'], reach: (page, site) => expire(page, site) },
  {
    name: 'request-expired-form-post',
    status: 410,
    codes: ['expired'],
    reach: (page, site) => expire(page, site, { response_mode: 'form_post' }),
  },
  {
    name: 'form-post',
    // It would submit the form immediately.
    isScriptWithheld: true,
    reach: async (page, site) => {
      await arrive(page, site, 'amira', { response_mode: 'form_post' });
      await send(page, {}, '[value=consent]');
    },
  },
  {
    name: 'request-of-unknown-client',
    status: 400,
    codes: ['invalid_request'],
    reach: (page, { base }) => page.goto(`${base}authorize?client_id=nobody&response_type=code`),
  },
  {
    name: 'request-to-unknown-address',
    status: 400,
    codes: ['invalid_redirect_uri'],
    reach: async (page, { relyingParty }) => {
      const { address } = await relyingParty.begin({ redirect_uri: 'https://elsewhere.example/' });
      await page.goto(address);
    },
  },
  {
    name: 'request-not-found',
    status: 404,
    codes: ['not_found'],
    reach: async (page, site) => {
      await signInAtHome(page, site, 'amira');
      await page.goto(`${site.base}consent/01JD3Q5Z8W2N4K6M7P9R0S1T2V`);
    },
  },
  {
    name: 'decision-refused',
    status: 403,
    codes: ['csrf_mismatch'],
    reach: async (page, site) => {
      await arrive(page, site, 'amira');
      const grant_id = await page.locator('[name=grant_id]').first().inputValue();
      await postForm(page, `${site.base}authorize`, { csrf: 'A'.repeat(43), grant_id, action: 'consent' });
    },
  },
];

/**
 * Presses the primary button.
 * @returns the URL of its page
 */
async function decide(page) {
  const address = page.url();
  await send(page, {}, '[value=consent]');
  return address;
}

async function expire(page, site, parameters) {
  await arrive(page, site, 'amira', parameters);
  await site.latchkey.sql(`update oauth2_authorization_grants set expires_at = now() where fulfilled_at is null`);
  await page.reload();
}

/** Returns parameters of a request for a specific account. */
function expecting(value) {
  return { claims: JSON.stringify({ id_token: { sub: { value } } }) };
}

const ID_DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Returns a database ID in the format of the protocol: 26 digits of 5 bits. */
function idText(uuid) {
  const number = BigInt(`0x${uuid.replaceAll('-', '')}`);
  return Array.from({ length: 26 }, (_, place) => ID_DIGITS[Number((number >> BigInt(5 * (25 - place))) & 31n)]).join(
    '',
  );
}

let registered = 0;

/**
 * Adds a dynamically registered client.
 * @returns its client ID
 */
async function selfRegisteredClient(site, name) {
  registered += 1;
  const uuid = `00000000-0000-0000-0000-${registered.toString(16).padStart(12, '0')}`;
  await insertClient(site, uuid, name);
  return idText(uuid);
}

/**
 * Adds a client whose metadata document was just fetched.
 * @returns its URL
 */
async function publishedClient(site, name) {
  registered += 1;
  const url = `https://applications.${'harbour'.repeat(5)}.example/clients/${registered}.json`;
  const hash = createHash('sha256').update(`client-document ${url}`).digest('hex');
  const uuid = hash.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
  await insertClient(site, uuid, name, url);
  return url;
}

async function insertClient({ latchkey, relyingParty }, uuid, name, url) {
  const metadata = {
    token_endpoint_auth_method: 'none',
    redirect_uris: [relyingParty.callback],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    id_token_signed_response_alg: 'RS256',
    ...(name !== undefined && { client_name: { '': name } }),
  };
  await latchkey.sql(
    `insert into oauth2_clients (id, is_static, metadata, created_at, document_url, document_fresh_until)
     values ($1::uuid, false, $2::jsonb, now(), $3::text, now() + interval '1 day')`,
    [uuid, JSON.stringify(metadata), url],
  );
}
