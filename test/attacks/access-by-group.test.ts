/** Access by group (administration A-10): a client that is limited to groups, in every flow (S-200). */
import { beforeEach, describe, expect, test } from 'vitest';
import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import {
  ACCESS_TOKEN_TYPE,
  DEVICE_CODE_GRANT_TYPE,
  TOKEN_EXCHANGE_GRANT_TYPE,
} from '#protocol/oauth/client-metadata.ts';
import type { Browser, Page } from '../support/browser.ts';
import { sql } from '../support/fixtures.ts';
import { type AttackedClient, attackedService, basic, C1, C2, C3, CLIENT_SETTINGS } from './attacked-service.ts';
import { HeldChange } from './held-change.ts';
import { jsonOf, type RawResponse, textMember } from './raw-http.ts';

const CONTACT = 'mailto:help@example.test';
const attacked = attackedService({
  branding: { contact: CONTACT },
  clients: CLIENT_SETTINGS.map((client) =>
    client.client_id === C2.id ? { ...client, token_exchange: { subjects: [C3.id], scopes: ['openid'] } } : client,
  ),
});

const STAFF = '0193a000-0000-7000-8000-000000000001';
const OTHERS = '0193a000-0000-7000-8000-000000000002';
const PROVIDER = '0193a000-0000-7000-8000-000000000003';
const [LIMITED, LIMITED_CALLER, UNLIMITED] = [C1, C2, C3];
const NOW = 'now()';

let browser: Browser | undefined;

/** Amira's browser, signed in once. */
async function amira(): Promise<Browser> {
  browser ??= await attacked.signedIn('amira');
  return browser;
}

function uuidOf({ id }: AttackedClient): string {
  return toUuid(parseId<'client'>(id) ?? newId<'client'>(0));
}

async function limit(asking: AttackedClient, groups: readonly string[] | null): Promise<void> {
  await attacked.change(
    `update oauth2_clients set allowed_groups = $2::uuid[], disabled_at = null, version = version + 1
      where id = $1::uuid`,
    [uuidOf(asking), groups],
  );
}

async function groupsOfAmira(own: readonly string[] | null): Promise<void> {
  await attacked.change("update users set groups = $1::text[] where username = 'amira'", [own]);
}

async function provideGroups(groups: readonly string[], isEnabled: boolean): Promise<void> {
  await attacked.change(
    `insert into upstream_providers (id, client_id, ui_order, created_at, disabled_at)
     values ($1::uuid, 'latchkey', 9, ${NOW}, case when not $2::boolean then ${NOW} end)`,
    [PROVIDER, isEnabled],
  );
  await attacked.change(
    `insert into upstream_links (id, provider_id, user_id, subject, groups, created_at)
     select $1::uuid, $1::uuid, id, 'amira', $2::text[], ${NOW} from users where username = 'amira'`,
    [PROVIDER, groups],
  );
}

async function addGroup(id: string, name: string): Promise<void> {
  await attacked.change(`insert into user_groups (id, name, created_at) values ($1::uuid, $2::text, ${NOW})`, [
    id,
    name,
  ]);
}

/** Amira is a member of `staff`, which two clients are limited to. */
beforeEach(async () => {
  // A client that was found disabled is not read again for two seconds.
  attacked.clock.advanceSeconds(3);
  await attacked.change('delete from upstream_links where provider_id = $1::uuid', [PROVIDER]);
  await attacked.change('delete from upstream_providers where id = $1::uuid', [PROVIDER]);
  await attacked.change('delete from user_groups');
  await addGroup(STAFF, 'staff');
  await groupsOfAmira(['staff']);
  for (const asking of [LIMITED, LIMITED_CALLER]) await limit(asking, [STAFF]);
  await limit(UNLIMITED, null);
});

type Situation = 'disabled' | 'member' | 'stranger';

/** What happens in the middle of a flow, and what amira is for the client from then on. */
const SITUATIONS: Readonly<Record<string, { readonly as: Situation; readonly happens: () => Promise<void> }>> = {
  'stays a member': { as: 'member', happens: async () => undefined },
  'is removed from the group': { as: 'stranger', happens: () => groupsOfAmira(['other']) },
  'loses all groups': { as: 'stranger', happens: () => groupsOfAmira(null) },
  'is a member by a provider only': {
    as: 'member',
    happens: async () => {
      await groupsOfAmira(null);
      await provideGroups(['other', 'staff'], true);
    },
  },
  'is a member by a disabled provider': {
    as: 'stranger',
    happens: async () => {
      await groupsOfAmira(null);
      await provideGroups(['staff'], false);
    },
  },
  'has a group with a similar name': { as: 'stranger', happens: () => groupsOfAmira(['Staff', 'staff ', 'staff2']) },
  'has the former name of a renamed group': {
    as: 'member',
    happens: () => attacked.change("update user_groups set name = 'crew', former_name = 'staff'"),
  },
  'has the group of another name after a rename': {
    as: 'stranger',
    happens: () => attacked.change("update user_groups set name = 'crew'"),
  },
  'sees the group deleted, with its name still listed': {
    as: 'stranger',
    happens: () => attacked.change(`update user_groups set deleted_at = ${NOW}`),
  },
  'sees the only group deleted and created anew': {
    as: 'stranger',
    happens: async () => {
      await attacked.change('delete from user_groups');
      await addGroup(OTHERS, 'staff');
    },
  },
  'sees the client limited to nobody': {
    as: 'stranger',
    happens: async () => {
      for (const asking of [LIMITED, LIMITED_CALLER]) await limit(asking, []);
    },
  },
  'sees the client opened to everyone': {
    as: 'member',
    happens: async () => {
      await groupsOfAmira(null);
      for (const asking of [LIMITED, LIMITED_CALLER]) await limit(asking, null);
    },
  },
  'sees the client disabled': {
    as: 'disabled',
    happens: () =>
      attacked.change(`update oauth2_clients set disabled_at = ${NOW} where id = any($1::uuid[])`, [
        [uuidOf(LIMITED), uuidOf(LIMITED_CALLER)],
      ]),
  },
};

/** What the browser or the client gets at the end. */
function outcomeOf(page: Page): string {
  if (page.location?.startsWith(LIMITED.callback) === true) {
    return new URL(page.location).searchParams.get('error') ?? 'granted';
  }
  if (page.status === 403 && page.errorCodes.includes('not-in-group')) return 'page';
  return new URL(page.url).pathname.startsWith('/consent/') ? 'granted' : `${page.status}`;
}

function machineOutcome(response: RawResponse): string {
  return response.status === 200 ? 'granted' : String(jsonOf(response)['error']);
}

async function requestCodes(): Promise<{ readonly deviceCode: string; readonly userCode: string }> {
  const response = await attacked.post('/oauth2/device', { scope: 'openid' }, basic(LIMITED));
  const deviceCode = textMember(response, 'device_code');
  attacked.secrets.add(deviceCode);
  return { deviceCode, userCode: textMember(response, 'user_code') };
}

async function enter(user: Browser, userCode: string): Promise<Page> {
  await user.get('/link');
  await user.submit({ code: userCode });
  return await user.follow();
}

async function confirm(user: Browser): Promise<Page> {
  const path = new URL(user.page.url).pathname;
  await user.submit({ action: 'consent', confirm_device: 'on' }, { action: path });
  return user.page.location === undefined ? user.page : await user.follow();
}

async function poll(deviceCode: string): Promise<RawResponse> {
  return await attacked.post(
    '/oauth2/token',
    { grant_type: DEVICE_CODE_GRANT_TYPE, device_code: deviceCode },
    basic(LIMITED),
  );
}

async function exchangeToken(token: string): Promise<RawResponse> {
  return await attacked.post(
    '/oauth2/token',
    { grant_type: TOKEN_EXCHANGE_GRANT_TYPE, subject_token: token, subject_token_type: ACCESS_TOKEN_TYPE },
    basic(LIMITED_CALLER),
  );
}

type Happens = () => Promise<void>;

interface Flow {
  /** Runs until something happens, and then to the end. */
  readonly run: (happens: Happens) => Promise<string>;
  /** Outcome for a user without access, and with a disabled client. */
  readonly stranger: string;
  readonly disabled: string;
  readonly member?: string;
}

const CONSENT = { prompt: 'consent' };

const FLOWS: Readonly<Record<string, Flow>> = {
  'an authorization request': {
    run: async (happens) => {
      await happens();
      return outcomeOf(await (await amira()).open(attacked.authorizeUrl(LIMITED)));
    },
    stranger: 'page',
    // The page may be shown for a minute, but the decision is refused.
    disabled: 'granted',
  },
  'a decision': {
    run: async (happens) => {
      const user = await amira();
      await user.open(attacked.authorizeUrl(LIMITED, CONSENT));
      await happens();
      const page = await user.submit({ action: 'consent' }, { action: '/authorize' });
      const isPage = page.location?.startsWith(LIMITED.callback) === false;
      return outcomeOf(isPage ? await user.follow() : page);
    },
    stranger: 'page',
    disabled: '400',
  },
  'a silent request': {
    run: async (happens) => {
      const user = await amira();
      await attacked.callbackOf(user, LIMITED);
      await happens();
      return outcomeOf(await user.open(attacked.authorizeUrl(LIMITED, { prompt: 'none' })));
    },
    stranger: 'access_denied',
    disabled: '400',
  },
  'a pushed silent request': {
    run: async (happens) => {
      const user = await amira();
      await attacked.callbackOf(user, LIMITED);
      const form = {
        ...{ client_id: LIMITED.id, redirect_uri: LIMITED.callback, response_type: 'code', scope: 'openid' },
        prompt: 'none',
      };
      const uri = textMember(await attacked.post('/oauth2/par', form, basic(LIMITED)), 'request_uri');
      attacked.secrets.add(uri.slice(-43));
      await happens();
      return outcomeOf(
        await user.open(`/authorize?${new URLSearchParams({ client_id: LIMITED.id, request_uri: uri })}`),
      );
    },
    stranger: 'access_denied',
    disabled: '400',
  },
  'a code': {
    run: async (happens) => {
      const code = await attacked.code(await amira(), LIMITED);
      await happens();
      return machineOutcome(await attacked.exchange(LIMITED, code));
    },
    stranger: 'invalid_grant',
    disabled: 'invalid_client',
  },
  'a refresh': {
    run: async (happens) => {
      const { refreshToken } = await attacked.tokens(await amira(), LIMITED);
      await happens();
      return machineOutcome(await attacked.refresh(LIMITED, refreshToken));
    },
    stranger: 'invalid_grant',
    disabled: 'invalid_client',
  },
  'a device page': {
    run: async (happens) => {
      const { userCode } = await requestCodes();
      await happens();
      const page = await enter(await amira(), userCode);
      return page.status === 200 && page.text.includes(userCode) ? 'granted' : outcomeOf(page);
    },
    stranger: 'page',
    disabled: 'granted',
  },
  'a device decision': {
    run: async (happens) => {
      const user = await amira();
      await enter(user, (await requestCodes()).userCode);
      await happens();
      let page = await confirm(user);
      // The client has changed since the page was rendered, so the page is shown once more.
      if (page.status === 200 && page.body.includes('confirm_device')) page = await confirm(user);
      return page.status === 200 && page.text.includes('Your device is signed in') ? 'granted' : outcomeOf(page);
    },
    stranger: 'page',
    disabled: '404',
  },
  'a device code': {
    run: async (happens) => {
      const { deviceCode, userCode } = await requestCodes();
      const user = await amira();
      await enter(user, userCode);
      await confirm(user);
      await happens();
      return machineOutcome(await poll(deviceCode));
    },
    stranger: 'access_denied',
    disabled: 'invalid_client',
  },
  'a token exchange': {
    run: async (happens) => {
      const { accessToken } = await attacked.tokens(await amira(), UNLIMITED);
      await happens();
      const response = await exchangeToken(accessToken);
      if (response.status === 200) attacked.secrets.add(textMember(response, 'access_token'));
      return machineOutcome(response);
    },
    stranger: 'invalid_request',
    disabled: 'invalid_client',
  },
  // A token that was issued works until it expires.
  'an introspection': {
    run: async (happens) => {
      const { accessToken } = await attacked.tokens(await amira(), LIMITED);
      await happens();
      return String((await attacked.introspect(accessToken))['active']);
    },
    member: 'true',
    stranger: 'true',
    disabled: 'false',
  },
};

describe.each(Object.entries(FLOWS))('%s of a limited client (S-200)', (_, flow) => {
  test.each(Object.entries(SITUATIONS))('while the user %s', async (__, { as, happens }) => {
    const expected = as === 'member' ? (flow.member ?? 'granted') : flow[as];
    expect(await flow.run(happens)).toBe(expected);
  });
});

test('the page names the application and the contact, and leads to another account or back to the client', async () => {
  const user = await amira();
  await groupsOfAmira(null);
  const page = await user.open(attacked.authorizeUrl(LIMITED));
  expect(page.status).toBe(403);
  expect(page.text).toContain('You do not have access to Client C1');
  expect(page.text).toMatch(/If you need access, contact help@example\.test ?\./);
  expect(page.body).toContain(`href="${CONTACT}"`);
  expect(page.forms.map(({ action }) => action)).toContain('/logout');
  const back = await user.submit({ action: 'cancel' }, { action: '/authorize' });
  expect(outcomeOf(back)).toBe('access_denied');
});

test('a token exchange is refused like that of an unknown token', async () => {
  const { accessToken } = await attacked.tokens(await amira(), UNLIMITED);
  await groupsOfAmira(null);
  await attacked.changingNothing(async () => {
    const response = await exchangeToken(accessToken);
    expect(jsonOf(response)['error_description']).toBe('This client may not exchange this subject_token.');
    expect(jsonOf(await exchangeToken(`${accessToken}x`))).toEqual(jsonOf(response));
  });
});

test('a refresh after the loss ends the session and its tokens, once, with an event that names the client', async () => {
  const held = await attacked.tokens(await amira(), LIMITED);
  const events = `audit_events where kind = 'app_access_lost' and client_id = $1::uuid`;
  const before = await attacked.count(events, [uuidOf(LIMITED)]);
  await groupsOfAmira([]);
  const refused = await attacked.refresh(LIMITED, held.refreshToken);
  expect(jsonOf(refused)).toEqual({
    error: 'invalid_grant',
    error_description: 'The user is not in a group that may use this client.',
  });
  expect(await attacked.introspect(held.accessToken)).toEqual({ active: false });
  await groupsOfAmira(['staff']);
  expect((await attacked.refresh(LIMITED, held.refreshToken)).status).toBe(400);
  expect(await attacked.count(events, [uuidOf(LIMITED)])).toBe(before + 1);
  const rows = await sql<{ detail: unknown; finish_reason: string }>(
    attacked.service.database,
    `select e.detail, s.finish_reason from audit_events e join oauth2_sessions s on s.id = e.session_id
      where e.kind = 'app_access_lost' order by e.id desc limit 1`,
  );
  expect(rows).toEqual([{ detail: { reason: 'access_lost' }, finish_reason: 'access_lost' }]);
});

describe('amira leaves the group while a request of hers is processed (S-200)', () => {
  async function leaving(): Promise<HeldChange> {
    return await HeldChange.make(
      attacked.service.connectionString,
      "update users set groups = null where username = 'amira'",
      [],
    );
  }

  test('a decision: no code', async () => {
    const user = await amira();
    await user.open(attacked.authorizeUrl(LIMITED, CONSENT));
    const held = await leaving();
    await held.commitDuring(user.submit({ action: 'consent' }, { action: '/authorize' }));
    expect(outcomeOf(await user.follow())).toBe('page');
  });

  test('a code: no session', async () => {
    const code = await attacked.code(await amira(), LIMITED);
    const held = await leaving();
    expect(machineOutcome(await held.commitDuring(attacked.exchange(LIMITED, code)))).toBe('invalid_grant');
  });

  test('a decision about a device: no approval, but a denial is accepted', async () => {
    const user = await amira();
    const { deviceCode, userCode } = await requestCodes();
    await enter(user, userCode);
    const path = new URL(user.page.url).pathname;
    const held = await leaving();
    await held.commitDuring(user.submit({ action: 'consent', confirm_device: 'on' }, { action: path }));
    expect(outcomeOf(await user.follow())).toBe('page');
    await user.submit({ action: 'reject' }, { action: path });
    expect(machineOutcome(await poll(deviceCode))).toBe('access_denied');
  });

  test('a device code: no session', async () => {
    const user = await amira();
    const { deviceCode, userCode } = await requestCodes();
    await enter(user, userCode);
    await confirm(user);
    const held = await leaving();
    expect(machineOutcome(await held.commitDuring(poll(deviceCode)))).toBe('access_denied');
  });

  test('a token exchange: no token', async () => {
    const { accessToken } = await attacked.tokens(await amira(), UNLIMITED);
    const held = await leaving();
    expect(machineOutcome(await held.commitDuring(exchangeToken(accessToken)))).toBe('invalid_request');
  });

  test.each(['before', 'after'])('a refresh that the database answers %s: at most one more token', async (order) => {
    const held = await attacked.tokens(await amira(), LIMITED);
    const change = attacked.change.bind(attacked, `update user_groups set deleted_at = ${NOW}`);
    if (order === 'before') await change();
    const response = await attacked.refresh(LIMITED, held.refreshToken);
    if (order === 'after') await change();
    expect(response.status).toBe(order === 'before' ? 400 : 200);
    const latest = order === 'before' ? held.refreshToken : textMember(response, 'refresh_token');
    expect((await attacked.refresh(LIMITED, latest)).status).toBe(400);
    expect(await attacked.introspect(held.accessToken)).toEqual({ active: false });
  });

  test('twenty refreshes at once with the deletion of the group: none succeeds afterwards', async () => {
    const user = await amira();
    const tokens = [];
    for (let count = 0; count < 20; count += 1) tokens.push((await attacked.tokens(user, LIMITED)).refreshToken);
    const [responses] = await Promise.all([
      Promise.all(tokens.map(async (token) => await attacked.refresh(LIMITED, token))),
      attacked.change(`update user_groups set deleted_at = ${NOW}`),
    ]);
    const issued = responses
      .filter(({ status }) => status === 200)
      .map((response) => textMember(response, 'refresh_token'));
    for (const token of issued) expect(machineOutcome(await attacked.refresh(LIMITED, token))).toBe('invalid_grant');
  });
});
