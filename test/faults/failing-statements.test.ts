/** Statements that the database rejects during a request. The caller can retry. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '../support/browser.ts';
import { sql } from '../support/fixtures.ts';
import { startService } from '../support/service.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';

const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const SECRET = 'a-secret-of-at-least-16-characters';
const CALLBACK = 'https://app.example/callback';
const PASSWORD = 'correct horse battery staple';
const service = await sharedByTests(
  startService(
    {
      clients: [
        {
          client_id: CLIENT_ID,
          client_auth_method: 'client_secret_basic',
          client_secret: SECRET,
          redirect_uris: [CALLBACK],
        },
      ],
    },
    { expectedErrors: ['" 503 '] },
  ),
);

beforeAll(async () => {
  await service.registerUser('amira', PASSWORD);
});

function newBrowser(): Browser {
  return new Browser({ listener: service.address, publicBase: service.publicBase });
}

async function clientCredentials(secret: string): Promise<Response> {
  return await fetch(`${service.address}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${CLIENT_ID}:${secret}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
}

describe('a rate limit that cannot be checked', () => {
  beforeAll(async () => await sql(service.database, 'alter table rate_limits rename to rate_limits_away'));
  afterAll(async () => await sql(service.database, 'alter table rate_limits_away rename to rate_limits'));

  test('sign-in: 503 with Retry-After, even with the right password', async () => {
    const browser = newBrowser();
    await browser.get('/login');
    const { headers, status } = await browser.submit({ username: 'amira', password: PASSWORD });
    expect([status, headers['retry-after']]).toEqual([503, '5']);
    await browser.get('/reauth');
    expect(browser.page.location).toContain('/login');
  });

  test('a wrong client secret: 503 with Retry-After; the right one needs no limit', async () => {
    const response = await clientCredentials(`not-${SECRET}`);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await response.json()).toMatchObject({ error: 'temporarily_unavailable' });
    expect((await clientCredentials(SECRET)).status).toBe(200);
  });
});

describe('an authorization request that the database cannot store', () => {
  beforeAll(async () => {
    await sql(
      service.database,
      `create function refuse_row() returns trigger language plpgsql as
        $$ begin raise exception 'no space left' using errcode = '53100'; end $$`,
    );
    await sql(
      service.database,
      'create trigger refused before insert on oauth2_authorization_grants for each row execute function refuse_row()',
    );
  });
  afterAll(async () => await sql(service.database, 'drop trigger refused on oauth2_authorization_grants'));

  test('is a page with status 503 and Retry-After, not a response to the client', async () => {
    const browser = newBrowser();
    const query = new URLSearchParams({
      client_id: CLIENT_ID,
      redirect_uri: CALLBACK,
      response_type: 'code',
      scope: 'openid',
    });
    const { errorCodes, headers, location, status } = await browser.get(`/authorize?${query}`);
    expect([status, location, headers['retry-after']]).toEqual([503, undefined, '5']);
    expect(errorCodes).toEqual(['temporarily_unavailable']);
  });
});
