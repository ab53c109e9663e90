import { afterAll, beforeAll, expect, test } from 'vitest';
import { ChatOAuthClient, chatClientSettings } from '#test/support/chat-oauth-client.ts';
import { sql } from '#test/support/fixtures.ts';
import { codesOf, GraphqlClient } from '#test/support/graphql-client.ts';
import { startService, type TestService } from '#test/support/service.ts';

const PASSWORD = 'correct horse battery staple';
const CLIENT = '01JD3Q5Z8W2N4K6M7P9R0S1T3X';
const ABSENT = 'user:01JD3Q5Z8W2N4K6M7P9R0S1T00';
const SETTINGS = { clients: [chatClientSettings(CLIENT)], graphql: { oauth2_access: true } };

let service: TestService;
/** The same database, where users may not change their profile. */
let restricted: TestService;
let amira: GraphqlClient;
let userId: string;

beforeAll(async () => {
  service = await startService(SETTINGS);
  restricted = await startService({ ...SETTINGS, account: { profile_change_allowed: false } }, { like: service });
  await service.registerUser('amira', PASSWORD);
  await service.registerUser('karim', PASSWORD);
  await service.registerUser('root', PASSWORD, { canRequestAdmin: true });
  amira = await GraphqlClient.signedIn(service, 'amira', PASSWORD);
  userId = Object((await amira.query('{ viewer { ... on Node { id } } }')).data).viewer.id;
});

afterAll(async () => {
  await restricted.stop();
  await service.stop();
});

const SET = `mutation SetProfile($userId: ID!, $givenName: String, $familyName: String, $timeZone: String, $language: String) {
  setProfile(input: {
    userId: $userId, givenName: $givenName, familyName: $familyName, timeZone: $timeZone, language: $language
  }) { status user { givenName familyName timeZone language languageChosen } }
}`;

async function set(values: object, by: GraphqlClient = amira) {
  return await by.query(SET, { userId, ...values });
}

async function stored() {
  const [row] = await sql(
    service.database,
    `select given_name, family_name, time_zone, locale, locale_is_chosen from users where username = 'amira'`,
  );
  return row;
}

async function events() {
  return await sql<{ detail: unknown }>(
    service.database,
    `select e.detail from audit_events e join users u on u.id = e.user_id
      where u.username = 'amira' and e.kind = 'profile_changed' order by e.id`,
  );
}

test('names, time zone and language are stored, and absent values stay as they are (account-graphql 5.3)', async () => {
  const first = await set({ givenName: ' Amira ', familyName: 'Okafor', timeZone: 'europe/berlin', language: 'de' });
  const profile = { givenName: 'Amira', familyName: 'Okafor', timeZone: 'Europe/Berlin', language: 'de' };
  expect(first.data).toEqual({ setProfile: { status: 'SET', user: { ...profile, languageChosen: true } } });
  expect(service.logLines().at(-1)).toMatch(/ graphql\.operation\.name=SetProfile$/);
  expect((await set({ familyName: null })).data).toMatchObject({
    setProfile: { status: 'SET', user: { ...profile, familyName: null } },
  });
  expect((await set({ familyName: null })).data).toMatchObject({ setProfile: { status: 'SET' } });
  // The third call changed nothing.
  expect(await events()).toEqual([
    { detail: { changed: ['given_name', 'family_name', 'time_zone', 'locale'] } },
    { detail: { changed: ['family_name'] } },
  ]);
  const shown = await amira.query(
    '{ viewer { ... on User { securityEvents(kind: [PROFILE_CHANGED], first: 5) { nodes { kind actor } } } } }',
  );
  const event = { kind: 'PROFILE_CHANGED', actor: 'SELF' };
  expect(shown.data).toEqual({ viewer: { securityEvents: { nodes: [event, event] } } });
});

test('a chosen language no longer follows the pages shown, until the choice is removed', async () => {
  await set({ language: 'fr' });
  await amira.browser?.get('/account/?ui_locales=es');
  await service.core.activity.flush();
  expect(await stored()).toMatchObject({ locale: 'fr', locale_is_chosen: true });
  expect((await set({ language: null })).data).toMatchObject({
    setProfile: { status: 'SET', user: { language: 'fr', languageChosen: false } },
  });
  await amira.browser?.get('/account/?ui_locales=es');
  await service.core.activity.flush();
  expect(await stored()).toMatchObject({ locale: 'es', locale_is_chosen: false });
});

test.each([
  [{ givenName: '' }, 'INVALID_GIVEN_NAME'],
  [{ givenName: 'a\u202eb' }, 'INVALID_GIVEN_NAME'],
  [{ givenName: 'x'.repeat(256) }, 'INVALID_GIVEN_NAME'],
  [{ familyName: ' \t ' }, 'INVALID_FAMILY_NAME'],
  [{ timeZone: 'Mars/Olympus' }, 'INVALID_TIME_ZONE'],
  [{ timeZone: '+01:00' }, 'INVALID_TIME_ZONE'],
  [{ language: 'tlh' }, 'INVALID_LANGUAGE'],
])('%j is rejected, and nothing of it is stored', async (values, status) => {
  const before = await stored();
  expect((await set({ givenName: 'Other', ...values })).data).toMatchObject({ setProfile: { status } });
  expect(await stored()).toEqual(before);
});

test('is limited to the user and administrators, whose change is recorded', async () => {
  const karim = await GraphqlClient.signedIn(service, 'karim', PASSWORD);
  expect(codesOf(await set({ givenName: 'Not Mine' }, karim))).toEqual(['FORBIDDEN']);
  expect(codesOf(await karim.query(SET, { userId: ABSENT, givenName: 'Nobody' }))).toEqual(['FORBIDDEN']);
  expect(codesOf(await set({ givenName: 'Nobody' }, new GraphqlClient(service)))).toEqual(['UNAUTHENTICATED']);
  const root = await GraphqlClient.signedIn(service, 'root', PASSWORD);
  const browser = root.browser ?? expect.fail('no browser');
  const { accessToken } = await new ChatOAuthClient(service, CLIENT).signIn(
    browser,
    'openid urn:mas:graphql:* urn:mas:admin',
  );
  const admin = new GraphqlClient(service, { authorization: `Bearer ${accessToken}` });
  expect((await set({ givenName: 'By Admin' }, admin)).data).toMatchObject({ setProfile: { status: 'SET' } });
  expect((await events()).at(-1)).toEqual({
    detail: { actor: 'admin', admin: expect.any(String), changed: ['given_name'] },
  });
  const actions = await sql<{ detail: unknown }>(
    service.database,
    `select detail from audit_events where kind = 'admin_action' and detail ->> 'operation' = 'setProfile'`,
  );
  expect(actions).toEqual([{ detail: expect.objectContaining({ changed: ['given_name'] }) }]);
  expect(codesOf(await admin.query(SET, { userId: ABSENT, givenName: 'Nobody' }))).toEqual(['NOT_FOUND']);
});

test('account.profile_change_allowed: false leaves users only their language', async () => {
  const here = await GraphqlClient.signedIn(restricted, 'amira', PASSWORD);
  expect(codesOf(await set({ timeZone: 'UTC' }, here))).toEqual(['FEATURE_DISABLED']);
  expect((await set({ language: 'de' }, here)).data).toMatchObject({ setProfile: { status: 'SET' } });
  const { data } = await here.query('{ siteConfig { profileChangeAllowed languages } }');
  expect(data).toEqual({
    siteConfig: { profileChangeAllowed: false, languages: expect.arrayContaining(['en', 'de', 'fr', 'es', 'ar']) },
  });
});
