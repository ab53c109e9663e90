/** Callers can neither read nor change the objects of others. The test covers the whole schema (S-84, S-128). */
import { isNonNullType } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildAccountSchema } from '#features/account-api/schema/schema.ts';
import { newId } from '#platform/base/ids.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { codesOf, type GraphqlClient, type GraphqlResponse } from '../support/graphql-client.ts';
import { startService } from '../support/service.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';
import { absent, idOfType, isIdentifier, naming, outputOf } from './naming.ts';
import { makeOwned, type Owned, SETTINGS } from './owned-objects.ts';
import { ask, membersOf, nodeTypes, type Requested, rootFields } from './schema-walk.ts';

const schema = buildAccountSchema();
const clock = new FakeClock();
let owned: Owned;

const service = await sharedByTests(startService(SETTINGS, { clock }));

beforeAll(async () => {
  owned = await makeOwned(service, schema, clock);
});

/** `node` never returns these, not even to their owner. */
const NEVER_NODES = ['Authentication', 'CompatSsoLogin', 'UserRecoveryTicket'];
/** Anyone may read these. */
const PUBLIC = ['Anonymous', 'Oauth2Client', 'SiteConfig', 'UpstreamOAuth2Provider'];
/** A recovery ticket gives access to whoever holds it, signed in or not. */
const BY_TICKET = ['resendRecoveryEmail', 'setPasswordByRecovery', 'userRecoveryTicket'];
/** For administrators only. */
const ADMIN = ['addEmail', 'addUser', 'createOauth2Session', 'lockUser', 'setCanRequestAdmin', 'unlockUser', 'users'];

async function send(caller: GraphqlClient, { document, variables }: Requested): Promise<GraphqlResponse> {
  return await caller.query(document, variables);
}

/** Returns the response without the request ID and the IDs of the requested objects. */
function body({ status, text }: GraphqlResponse, requested: Requested): string {
  const named = JSON.stringify(requested.variables).match(/\w+:[0-9A-Z]{26}/g) ?? [];
  const plain = named.reduce((all, id) => all.replaceAll(id, 'ID'), text);
  return `${status} ${plain.replaceAll(/POST-\d+/g, 'POST')}`;
}

/** Returns everything the owner can see of their account, except when a session was last active. */
async function whatOwnerSees(): Promise<string> {
  const user = rootFields(schema, 'query').find(({ name }) => name === 'user') ?? expect.fail('no query user');
  const views = [ask('query', user, { id: idOfType(owned, 'User') })];
  for (const name of ['browserSession', 'compatSession', 'oauth2Session']) {
    const field = rootFields(schema, 'query').find((one) => one.name === name) ?? expect.fail(`no query ${name}`);
    views.push(ask('query', field, naming(owned, field, 'owner')));
  }
  const seen = [];
  for (const view of views)
    seen.push(body(await send(owned.callers.owner, view), view).replace(/"lastActive\w+":[^,}]*/g, ''));
  return seen.join('\n');
}

/** The caller is authenticated but is not a user. */
const BY_ITSELF = ['FORBIDDEN', 'UNAUTHENTICATED'];

const CALLERS = ['another person', 'their application', 'an application by itself', 'nobody'] as const;

describe.each(
  nodeTypes(schema)
    .map(({ name }) => name)
    .filter((name) => !PUBLIC.includes(name)),
)('node of the type %s (S-84, S-128)', (type) => {
  const node = rootFields(schema, 'query').find(({ name }) => name === 'node') ?? expect.fail('no query node');
  const isNever = NEVER_NODES.includes(type);

  test('is visible only to its owner; for others it does not exist', async () => {
    const id = isNever ? (owned.ids.get(type) ?? `${prefixOf(type)}:${newId(clock.now())}`) : idOfType(owned, type);
    const [own, none] = [ask('query', node, { id }), ask('query', node, { id: absent(id) })];
    const response = await send(owned.callers.owner, own);
    expect([response.errors, Object(Object(response.data).node).__typename]).toEqual([[], isNever ? undefined : type]);
    for (const name of CALLERS) {
      const foreign = await send(owned.callers.others[name], own);
      expect([name, foreign.data], foreign.text).toEqual([name, { node: null }]);
      expect(body(foreign, own), name).toBe(body(await send(owned.callers.others[name], none), none));
    }
  });

  test('rejects an id without a ULID after its prefix', async () => {
    for (const wrong of ['x', '', '0193f1d6-0000-7000-8000-000000000000', 'ILOU'.repeat(7), '8'.repeat(26)]) {
      const requested = ask('query', node, { id: `${prefixOf(type)}:${wrong}` });
      for (const caller of [owned.callers.owner, ...Object.values(owned.callers.others)]) {
        const response = await send(caller, requested);
        expect([wrong, response.status, codesOf(response)]).toEqual([wrong, 200, ['BAD_USER_INPUT']]);
      }
    }
  });
});

/**
 * Derives the prefix as the specification does: `UserEmail` becomes `user_email`, `UpstreamOAuth2Link` becomes
 * `upstream_oauth2_link`.
 */
function prefixOf(type: string): string {
  return type
    .replace('OAuth2', 'Oauth2')
    .replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`)
    .toLowerCase();
}

const NAMING_QUERIES = rootFields(schema, 'query').filter(
  (field) => field.args.some(({ type }) => isNonNullType(type)) && !['node', ...BY_TICKET].includes(field.name),
);

test.each(
  NAMING_QUERIES.filter((field) => !PUBLIC.includes(outputOf(field))).map((field) => [field.name, field] as const),
)('the query %s answers its owner; others get the answer for unknown objects (S-84, S-128)', async (name, field) => {
  const [own, none] = [
    ask('query', field, naming(owned, field, 'owner')),
    ask('query', field, naming(owned, field, 'nobody')),
  ];
  const response = await send(owned.callers.owner, own);
  expect([response.errors, Object(response.data)[name]]).toEqual([[], expect.any(Object)]);
  for (const caller of CALLERS) {
    const foreign = await send(owned.callers.others[caller], own);
    expect([caller, foreign.data], foreign.text).toEqual([caller, { [name]: null }]);
    expect(body(foreign, own), caller).toBe(body(await send(owned.callers.others[caller], none), none));
  }
});

const OPEN_QUERIES = [
  'currentBrowserSession',
  'currentUser',
  'siteConfig',
  'upstreamOauth2Providers',
  'viewer',
  'viewerSession',
];

test('only queries that return no user data are public', () => {
  const nameless = rootFields(schema, 'query').filter((field) => field.args.every(({ type }) => !isNonNullType(type)));
  expect(nameless.map(({ name }) => name).filter((name) => ![...OPEN_QUERIES, ...ADMIN].includes(name))).toEqual([]);
});

const MUTATIONS = rootFields(schema, 'mutation').filter(({ name }) => !BY_TICKET.includes(name));
const NAMING_MUTATIONS = MUTATIONS.filter((field) => membersOf(field).some(isIdentifier));

test.each(NAMING_MUTATIONS.map((field) => [field.name, field] as const))(
  'the mutation %s leaves the objects of others unchanged and treats them as unknown (S-128)',
  async (_, field) => {
    const before = await whatOwnerSees();
    const [own, none] = [
      ask('mutation', field, naming(owned, field, 'owner')),
      ask('mutation', field, naming(owned, field, 'nobody')),
    ];
    for (const caller of CALLERS) {
      const foreign = await send(owned.callers.others[caller], own);
      expect(body(foreign, own), caller).toBe(body(await send(owned.callers.others[caller], none), none));
    }
    expect(await whatOwnerSees()).toBe(before);
  },
);

test.each(MUTATIONS.map((field) => [field.name, field] as const))(
  'the mutation %s is denied to anonymous callers and to clients without a user (S-128)',
  async (name, field) => {
    for (const [caller, allowed] of [
      ['nobody', ['UNAUTHENTICATED']],
      ['an application by itself', BY_ITSELF],
    ] as const) {
      const response = await send(owned.callers.others[caller], ask('mutation', field, naming(owned, field, 'owner')));
      const { status } = Object(Object(Object(response.data)[name]));
      // If the payload has a status, objects of others are reported as not found.
      if (status === undefined) expect(allowed, response.text).toContain(codesOf(response)[0]);
      else expect(['NOT_FOUND', 'COMPLETED', 'INVALID_CODE'], response.text).toContain(status);
    }
  },
);

test.each(
  [
    ...rootFields(schema, 'query').map((field) => ['query', field] as const),
    ...MUTATIONS.map((field) => ['mutation', field] as const),
  ]
    .filter(([, { name }]) => ADMIN.includes(name))
    .map(([of, field]) => [field.name, of, field] as const),
)('%s is restricted to administrators (S-129)', async (_, of, field) => {
  const { owner, others } = owned.callers;
  for (const [caller, allowed] of [
    [owner, ['FORBIDDEN']],
    [others['another person'], ['FORBIDDEN']],
    [others['their application'], ['FORBIDDEN']],
    [others['an application by itself'], BY_ITSELF],
    [others.nobody, ['UNAUTHENTICATED']],
  ] as const) {
    const response = await send(caller, ask(of, field, naming(owned, field, 'owner')));
    expect([response.errors.length, response.data ?? null], response.text).toEqual([1, null]);
    expect(allowed, response.text).toContain(codesOf(response)[0]);
  }
});
