import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { HeldChange } from '#test/attacks/held-change.ts';
import { sql } from '#test/support/fixtures.ts';
import { codesOf, GraphqlClient } from '#test/support/graphql-client.ts';
import { startService } from '#test/support/service.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';

const PASSWORD = 'correct horse battery staple';
const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T6Z';
const SETTINGS = {
  limits: { handler_timeout: '10m' },
  graphql: { timeout: '5m' },
  clients: [{ client_id: CLIENT, client_auth_method: 'none', redirect_uris: ['https://app.example/cb'] }],
};

const service = await sharedByTests(startService(SETTINGS));
const impatient = await sharedByTests(startService({ ...SETTINGS, graphql: { timeout: '1s' } }, { like: service }));

beforeAll(async () => {
  await service.registerUser('lotte', PASSWORD);
});

test('fields that time out fail, and the others are returned (account-graphql 1.7)', async () => {
  const client = new pg.Client({ connectionString: service.connectionString });
  await client.connect();
  await client.query('begin; lock table oauth2_clients in access exclusive mode');
  const response = await new GraphqlClient(impatient).query(
    `{ siteConfig { id } oauth2Client(id: "oauth2_client:${CLIENT}") { clientId } }`,
  );
  await client.query('rollback');
  await client.end();
  expect([response.status, codesOf(response), response.errors[0]?.path]).toEqual([200, ['TIMEOUT'], ['oauth2Client']]);
  expect(response.data).toEqual({ siteConfig: { id: 'site_config' }, oauth2Client: null });
});

const END = `mutation EndBrowserSession($id: ID!) {
  endBrowserSession(input: { browserSessionId: $id }) { status }
  again: endBrowserSession(input: { browserSessionId: $id }) { status }
}`;

test('a mutation that timed out does not take effect later (S-134)', async () => {
  const lotte = await GraphqlClient.signedIn(service, 'lotte', PASSWORD);
  const { data } = await lotte.query('{ viewerSession { ... on Node { id } } }');
  const { id } = Object(data).viewerSession;
  const held = await HeldChange.make(
    service.connectionString,
    'update user_sessions set user_agent = user_agent where finished_at is null',
    [],
  );
  const response = await new GraphqlClient(impatient, {}, lotte.browser).query(END, { id });
  expect([response.status, codesOf(response), response.data]).toEqual([200, ['TIMEOUT'], null]);
  // Waits behind the mutation's statement, and therefore for its outcome.
  const [row] = await held.commitDuring(
    sql<{ finished_at: unknown }>(service.database, 'select finished_at from user_sessions for update'),
    2,
  );
  expect(row).toEqual({ finished_at: null });
  expect((await lotte.query('{ viewer { __typename } }')).data).toEqual({ viewer: { __typename: 'User' } });
});

test('F-12: returns UNAVAILABLE when the database is out of disk space, and logs which disk is full', async () => {
  const lotte = await GraphqlClient.signedIn(service, 'lotte', PASSWORD);
  const { data } = await lotte.query('{ viewerSession { ... on Node { id } } }');
  await sql(
    service.database,
    `create function refuse_row() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$`,
  );
  await sql(
    service.database,
    'create trigger refused before update on user_sessions for each row execute function refuse_row()',
  );
  const response = await lotte.query(END, { id: Object(data).viewerSession.id });
  await sql(service.database, 'drop trigger refused on user_sessions');
  expect([response.status, codesOf(response)[0], response.data]).toEqual([200, 'UNAVAILABLE', null]);
  expect(service.logLines()).toContainEqual(
    expect.stringMatching(
      / WARN error POST-\d+ .*53100 could not extend file\. A disk of the database server is full\./,
    ),
  );
});
