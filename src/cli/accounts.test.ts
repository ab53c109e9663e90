import { beforeEach, describe, expect, test } from 'vitest';

import { newId, toUuid } from '#platform/base/ids.ts';
import { recoverPassword } from '#test/support/account-operations.ts';
import { insertTestAccount } from '#test/support/accounts.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { sql } from '#test/support/fixtures.ts';
import { startMails } from '#test/support/mails.ts';
import { startPages } from '#test/support/page-service.ts';
import { beginRegistration, openEstimator } from '#test/support/registering.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import type { UserId } from '#vocabulary/ids.ts';
import type { ManageDeps } from './accounts.ts';
import { demoteAdminCommand, listAdminUsersCommand, promoteAdminCommand } from './admins.ts';
import { lockUserCommand, unlockUserCommand } from './lock-user.ts';
import { manageDeps, type Printed } from './manage-deps.test-support.ts';
import { registerUserCommand } from './register-user.ts';
import { setDisplayNameCommand } from './set-display-name.ts';
import { listUsersCommand, showUserCommand } from './show-users.ts';
import { setClaimsCommand, setGroupsCommand } from './user-claims.ts';
import { addEmailCommand, removeEmailCommand, verifyEmailCommand } from './user-emails.ts';

let printed: Printed;
let deps: ManageDeps;
let count = 0;
let name: string;
let user: UserId;

const testDatabase = await sharedByTests(createTestDatabase());
const mails = await sharedByTests(startMails());
const estimator = await sharedByTests(openEstimator());
const service = await sharedByTests(
  startPages(testDatabase.database, {
    email: mails.config,
    registration: { estimator, isEmailRequired: true },
    recovery: {},
  }),
);
beforeEach(async () => {
  printed = { out: '', err: '' };
  deps = manageDeps(service, printed);
  count += 1;
  name = `bao${count}`;
  user = await insertTestAccount(testDatabase.database, { username: name, email: `${name}@mail.example` });
});

async function rows<Row extends object>(text: string, ...params: unknown[]): Promise<Row[]> {
  return await sql<Row>(testDatabase.database, text, params);
}

async function addresses(): Promise<string[]> {
  const found = await rows<{ email: string }>(
    'select email from user_emails where user_id = $1::uuid order by email',
    toUuid(user),
  );
  return found.map(({ email }) => email);
}

async function events(kind: string): Promise<number> {
  return (await rows('select from audit_events where user_id = $1::uuid and kind = $2::text', toUuid(user), kind))
    .length;
}

function deliver() {
  return mails.deliver(service.core);
}

/** Removes the bidi isolation marks around names. */
function readable(text: string | undefined): string {
  return (text ?? '').replaceAll(/[\u200b\u2066-\u2069]/g, '');
}

describe('manage add-email', () => {
  test('adds a confirmed address and notifies the existing ones, but not the new one (browser-flows 11.6)', async () => {
    await addEmailCommand(deps, { user: `@${name}:example.org`, email: ' Second@Mail.example ', json: false });
    expect(printed).toEqual({ out: `Second@mail.example added to ${name}\n`, err: '' });
    expect(await addresses()).toEqual([`${name}@mail.example`, 'Second@mail.example'].toSorted());
    expect(await events('email_added')).toBe(1);
    const [mail, ...others] = await deliver();
    expect(others).toEqual([]);
    expect(mail).toMatchObject({ to: `${name}@mail.example`, subject: 'Email address added' });
    expect(readable(mail?.text)).toContain('Email address: S…@mail.example');
    expect(`${mail?.text} ${mail?.html}`).not.toMatch(/second/i);
    await removeEmailCommand(deps, { user: name, email: 'second@mail.example', json: false });
    await deliver();
  });

  test('changes nothing when the user already has it, in any case', async () => {
    await addEmailCommand(deps, { user: name, email: `${name.toUpperCase()}@mail.example`, json: true });
    expect(JSON.parse(printed.out)).toEqual({
      ...{ id: user, username: name, added: false },
      email: `${name.toUpperCase()}@mail.example`,
    });
    expect(await addresses()).toEqual([`${name}@mail.example`]);
    expect(await deliver()).toEqual([]);
  });

  test.each([
    ['nobody', 'a@mail.example', 'user not found'],
    ['', 'not an address', 'not an address is not an email address'],
    ['', 'bao1@mail.example', 'bao1@mail.example belongs to another user'],
  ])('rejects %j %j: %s', async (of, email, message) => {
    const adding = addEmailCommand(deps, { user: of || name, email, json: false });
    await expect(adding).rejects.toMatchObject({ message, exitCode: 1 });
    expect(await addresses()).toEqual([`${name}@mail.example`]);
    expect(await events('email_added')).toBe(0);
    expect(await deliver()).toEqual([]);
  });

  test('adds an address to one of two users when both are requested at once', async () => {
    const other = await insertTestAccount(testDatabase.database, { username: `${name}-other` });
    const outcomes = await Promise.allSettled(
      [user, other].map((id) => addEmailCommand(deps, { user: id, email: `both-${name}@mail.example`, json: true })),
    );
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await rows('select from user_emails where email = $1::text', `both-${name}@mail.example`)).toHaveLength(1);
    await deliver();
  });
});

describe('manage remove-email', () => {
  test('removes the address, notifies it too, and invalidates the recovery links sent to it', async () => {
    name = `${name}-remembered`;
    const account = { username: name, email: `${name}@mail.example`, password: 'correct horse battery staple' };
    user = await insertTestAccount(testDatabase.database, account);
    const browser = service.browser();
    await browser.open('/recover');
    await browser.submit({ email: `${name}@mail.example` });
    const [recovery] = await deliver();
    const [, ticket] = /https:\S+ticket=(\w+)/.exec(recovery?.text ?? '') ?? expect.fail('no link');
    const recover = { ticket: ticket ?? '', newPassword: 'seven purple walruses sing quietly' };
    await removeEmailCommand(deps, { user: name, email: `${name}@mail.example`, json: false });
    expect(printed.out).toBe(`${name}@mail.example removed from ${name}\n`);
    expect(printed.err).toBe(`warning: ${name} no longer has an email address\n`);
    expect(await addresses()).toEqual([]);
    expect(await deliver()).toMatchObject([{ to: `${name}@mail.example`, subject: 'Email address removed' }]);
    expect(await recoverPassword(service.browser(), recover)).toBe('NO_SUCH_RECOVERY_TICKET');
  });

  test.each([
    ['somebody-else@mail.example', 'does not have somebody-else@mail.example'],
    ['nonsense', 'nonsense is not an email address'],
  ])('rejects %s', async (email, message) => {
    const removing = removeEmailCommand(deps, { user: name, email, json: false });
    await expect(removing).rejects.toMatchObject({ message: expect.stringContaining(message), exitCode: 1 });
    expect(await events('email_removed')).toBe(0);
    expect(await deliver()).toEqual([]);
  });
});

test('manage verify-email prints a warning and changes nothing', async () => {
  await verifyEmailCommand(deps, { user: name, email: 'anything', json: false });
  expect(printed).toEqual({ out: '', err: expect.stringContaining('verify-email does nothing') });
  await expect(verifyEmailCommand(deps, { user: 'nobody', email: 'x', json: false })).rejects.toThrow('user not found');
});

describe('manage set-display-name', () => {
  test('sets and removes the name, and rejects one without visible characters', async () => {
    const stored = async () => await rows('select display_name from users where id = $1::uuid', toUuid(user));
    await setDisplayNameCommand(deps, { user: name, displayName: '  Bao Tran ', json: false });
    expect(printed.out).toBe(`display name of ${name} set to Bao Tran\n`);
    expect(await stored()).toEqual([{ display_name: 'Bao Tran' }]);
    const setting = setDisplayNameCommand(deps, { user: name, displayName: '\u200b', json: false });
    const message = 'the display name is not allowed: must contain a visible character';
    await expect(setting).rejects.toMatchObject({ message, exitCode: 1 });
    printed.out = '';
    await setDisplayNameCommand(deps, { user, displayName: '', json: true });
    expect(JSON.parse(printed.out)).toEqual({ id: user, username: name, display_name: null });
    expect(await stored()).toEqual([{ display_name: null }]);
    expect(await events('display_name_changed')).toBe(2);
  });
});

describe('manage promote-admin and demote-admin', () => {
  async function session(scope: string): Promise<string> {
    const id = toUuid(newId(Date.now()));
    await rows(
      `insert into oauth2_clients (id, is_static, metadata, created_at) values ($1::uuid, true, '{}', now())`,
      id,
    );
    await rows(
      `insert into oauth2_sessions (id, user_id, client_id, scope, created_at)
       values ($1::uuid, $2::uuid, $1::uuid, $3::text[], now())`,
      ...[id, toUuid(user), scope.split(' ')],
    );
    return id;
  }

  async function personal(owner: UserId, actor: UserId, scope: string): Promise<string> {
    const id = toUuid(newId(Date.now()));
    await rows(
      `insert into personal_sessions (id, owner_user_id, actor_user_id, human_name, scope, created_at)
       values ($1::uuid, $2::uuid, $3::uuid, 'a program', $4::text[], now())`,
      ...[id, toUuid(owner), toUuid(actor), scope.split(' ')],
    );
    return id;
  }

  const insertOther = () => insertTestAccount(testDatabase.database, { username: `bot-of-${name}` });

  const isLive = async (id: string) =>
    (await rows('select from oauth2_sessions where id = $1::uuid and finished_at is null', id)).length === 1;

  test('grant and revoke the right, report whether it changed, and are audited', async () => {
    const listed = async () => {
      printed.out = '';
      await listAdminUsersCommand(deps, { json: false });
      return printed.out;
    };
    await promoteAdminCommand(deps, { user: name, json: false });
    await promoteAdminCommand(deps, { user: name, json: false });
    expect(printed.out).toBe(`${name} can now request admin scopes\n${name} can already request admin scopes\n`);
    expect(await listed()).toBe(`${user}\t${name}\n`);
    expect(printed.err).toBe('total: 1\n');
    await demoteAdminCommand(deps, { user: name, killSessions: false, json: false });
    expect(await listed()).toBe('');
    expect([await events('admin_granted'), await events('admin_revoked')]).toEqual([1, 1]);
  });

  test('treat an account ID, in either case or as UUID, only as an ID', async () => {
    const isAdmin = async () =>
      (await rows('select from users where id = $1::uuid and can_request_admin', toUuid(user))).length === 1;
    const nobody = newId<'user'>(Date.now());
    // Created before reserved names were rejected.
    const squatter = await insertTestAccount(testDatabase.database, { username: user.toLowerCase() });
    await insertTestAccount(testDatabase.database, { username: nobody.toLowerCase() });
    for (const reference of [user, user.toLowerCase(), toUuid(user), toUuid(user).toUpperCase()]) {
      await promoteAdminCommand(deps, { user: reference, json: false });
      expect(await isAdmin()).toBe(true);
      await demoteAdminCommand(deps, { user: reference, killSessions: false, json: false });
      expect(await isAdmin()).toBe(false);
    }
    expect(await rows('select from users where id = $1::uuid and can_request_admin', toUuid(squatter))).toEqual([]);
    for (const reference of [nobody, nobody.toLowerCase(), toUuid(nobody)]) {
      const promoting = promoteAdminCommand(deps, { user: reference, json: false });
      await expect(promoting).rejects.toMatchObject({ message: 'user not found', exitCode: 1 });
    }
    printed.out = '';
    await showUserCommand(deps, { user: `@${user.toLowerCase()}:example.org`, json: true });
    expect(JSON.parse(printed.out)).toMatchObject({ id: squatter });
  });

  test('never fold case outside ASCII, and require the exact spelling of names that differ only in case', async () => {
    const promoting = (text: string) => promoteAdminCommand(deps, { user: text, json: false });
    await insertTestAccount(testDatabase.database, { username: `king${count}` });
    await expect(promoting(`\u212aing${count}`)).rejects.toThrow('user not found');
    await promoting(`KING${count}`);
    await insertTestAccount(testDatabase.database, { username: `Twin${count}` });
    const other = { username: `TWIN${count}`, usernameKey: `TWIN${count}` };
    await insertTestAccount(testDatabase.database, other);
    await expect(promoting(`twin${count}`)).rejects.toThrow('user not found');
    await promoting(`Twin${count}`);
  });

  test('with --kill-sessions end the sessions with an admin scope, and no others', async () => {
    await promoteAdminCommand(deps, { user: name, json: false });
    const [admin, homeserver, plain] = [
      await session('openid urn:latchkey:admin'),
      await session('urn:synapse:admin:*'),
      await session('openid email'),
    ];
    const [acting, owned, other] = [
      await personal(user, user, 'urn:latchkey:admin'),
      await personal(user, await insertOther(), 'openid urn:mas:admin'),
      await personal(user, user, 'openid'),
    ];
    printed.out = '';
    await demoteAdminCommand(deps, { user: name, killSessions: true, json: true });
    expect(JSON.parse(printed.out)).toEqual({
      ...{ id: user, username: name, admin: false, changed: true, ended_sessions: 4 },
    });
    expect([await isLive(admin), await isLive(homeserver), await isLive(plain)]).toEqual([false, false, true]);
    const kept = await rows<{ id: string }>(
      'select id from personal_sessions where owner_user_id = $1::uuid and revoked_at is null',
      toUuid(user),
    );
    expect(kept).toEqual([{ id: other }]);
    expect([acting, owned]).not.toContain(other);
  });

  test('warn when the configuration still grants the right', async () => {
    const named = { ...deps, listedAdmins: [name, 'somebody'] };
    await demoteAdminCommand(named, { user: name, killSessions: false, json: false });
    expect(printed.err).toBe(`warning: ${name} can still request admin scopes because of policy.data.admin_users\n`);
    printed.err = '';
    await listAdminUsersCommand(named, { json: true });
    expect(printed.err).toContain(`also in policy.data.admin_users: ${name}, somebody\n`);
  });
});

describe('manage set-groups and set-claims', () => {
  test('replace the whole value, report whether it changed, and are audited and shown', async () => {
    const set = async (...groups: string[]) => {
      printed.out = '';
      await setGroupsCommand(deps, { user: name, groups, json: false });
      return printed.out;
    };
    expect(await set('ops', 'Admins', 'ops')).toBe(`${name} is now in Admins, ops\n`);
    expect(await set('Admins', 'ops')).toBe(`${name} is already in Admins, ops\n`);
    printed.out = '';
    await setClaimsCommand(deps, { user: name, claims: '{"role": "pilot"}', json: true });
    expect(JSON.parse(printed.out)).toEqual({ id: user, username: name, claims: { role: 'pilot' }, changed: true });
    printed.out = '';
    await showUserCommand(deps, { user: name, json: true });
    expect(JSON.parse(printed.out)).toMatchObject({ groups: ['Admins', 'ops'], claims: { role: 'pilot' } });
    printed.out = '';
    await showUserCommand(deps, { user: name, json: false });
    expect(printed.out).toContain('groups            Admins, ops\nadditional claims {"role":"pilot"}\n');
    expect(await set()).toBe(`${name} is now in no group\n`);
    printed.out = '';
    await setClaimsCommand(deps, { user: name, claims: '{}', json: false });
    expect(printed.out).toBe(`${name} now has no additional claims\n`);
    expect([await events('groups_changed'), await events('claims_changed')]).toEqual([2, 2]);
  });

  test.each([
    ['', /^"" is not a valid group name: 1 to 255 characters/],
    ['a\u001b[2J', /^"a\ufffd\[2J" is not a valid group name/],
    ['x'.repeat(256), /is not a valid group name/],
  ])('reject the group %j', async (group, message) => {
    await expect(setGroupsCommand(deps, { user: name, groups: ['ops', group], json: false })).rejects.toMatchObject({
      ...{ exitCode: 1, message: expect.stringMatching(message) },
    });
  });

  test.each([
    ['{', 'the claims are not valid JSON'],
    ['[]', 'the claims are not valid: expected an object'],
    ['{"sub": "root"}', 'the claim "sub" is not valid: this claim is reserved for the server'],
    ['{"a\\u001b": 1}', 'the claim "a\ufffd" is not valid: expected a name of'],
    ['{"__proto__": {}}', 'the claim "__proto__" is not valid'],
    ['{"a": "\\u0000"}', 'the claim "a" is not valid: a string contains an invalid character'],
  ])('reject the claims %s', async (claims, message) => {
    await expect(setClaimsCommand(deps, { user: name, claims, json: true })).rejects.toMatchObject({
      ...{ exitCode: 1, message: expect.stringContaining(message) },
    });
  });

  test('reject more groups than the limit per user, and unknown users', async () => {
    const groups = Array.from({ length: 201 }, (_, index) => `g${index}`);
    await expect(setGroupsCommand(deps, { user: name, groups, json: false })).rejects.toMatchObject({ exitCode: 1 });
    await expect(setGroupsCommand(deps, { user: 'nobody', groups: [], json: false })).rejects.toMatchObject({
      message: 'user not found',
    });
  });
});

describe('manage list-users and show-user', () => {
  test('search by part of a name or address, in any case, and say when there are more', async () => {
    await insertTestAccount(testDatabase.database, { username: `zz100%_${count}`.replace('%', '=') });
    const search = async (text: string, limit = 100) => {
      printed = { out: '', err: '' };
      await listUsersCommand(manageDeps(service, printed), { search: text, limit, json: true });
      return printed.out
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    };
    expect(await search(`${name.toUpperCase()}@MAIL`)).toEqual([
      {
        ...{ id: user, username: name, display_name: null, email: `${name}@mail.example` },
        ...{ status: 'active', admin: false, created_at: expect.stringMatching(/Z$/) },
      },
    ]);
    expect(printed.err).toBe('total: 1\n');
    expect(await search('%')).toEqual([]);
    expect(await search('_')).toMatchObject([{ username: `zz100=_${count}` }]);
    expect(await search('', 2)).toHaveLength(2);
    expect(printed.err).toBe('only the first 2 are shown\n');
  });

  test('filter by state, as a table', async () => {
    await lockUserCommand(deps, { user: name, deactivate: false, erase: false, json: false });
    const status = 'locked';
    const listed = async () => {
      printed.out = '';
      await listUsersCommand(deps, { status, search: name, limit: 10, json: false });
      return printed.out.split('\n').map((line) => line.split(/ {2,}/));
    };
    const [head, row] = await listed();
    expect(head).toEqual(['ID', 'USERNAME', 'STATUS', 'ADMIN', 'CREATED', 'E-MAIL']);
    expect(row?.[1]).toBe(name);
    await unlockUserCommand(deps, { user: name, reactivate: false, json: false });
    expect(await listed()).toHaveLength(2);
    await deliver();
  });

  test('show the data of a user, without terminal control characters', async () => {
    const provider = toUuid(newId(count));
    await rows(
      `insert into upstream_providers (id, client_id, ui_order, created_at) values ($1::uuid, 'x', 1, now())`,
      provider,
    );
    await rows(
      `insert into upstream_links (id, provider_id, user_id, subject, human_account_name, created_at)
       values (gen_random_uuid(), $1::uuid, $2::uuid, 'sub-1', 'bao' || chr(27) || '[2J', now())`,
      ...[provider, toUuid(user)],
    );
    await showUserCommand(deps, { user: name, json: false });
    expect(printed.out).toContain(`username          ${name}\n`);
    expect(printed.out).toContain('sub-1 (bao\ufffd[2J)');
    expect(printed.out).toContain('active sessions   browser: 0, OAuth: 0, chat: 0, personal: 0\n');
    printed.out = '';
    await showUserCommand(deps, { user, json: true });
    expect(JSON.parse(printed.out)).toMatchObject({
      ...{ username: name, status: 'active', has_password: false, emails: [`${name}@mail.example`], locked_at: null },
      primary_email: `${name}@mail.example`,
      upstream_links: [{ subject: 'sub-1', account_name: 'bao\u001b[2J' }],
      sessions: { browser: 0, oauth2: 0, compat: 0, personal: 0 },
    });
    printed.out = '';
    await rows(
      `insert into user_emails (id, user_id, email, email_key, created_at, is_primary)
       values (gen_random_uuid(), $1::uuid, $2, $2, now(), true)`,
      ...[toUuid(user), 'chosen@mail.example'],
    );
    await showUserCommand(deps, { user, json: false });
    expect(printed.out).toContain(`email addresses   chosen@mail.example (primary), ${name}@mail.example\n`);
    await expect(showUserCommand(deps, { user: 'nobody', json: true })).rejects.toMatchObject({ exitCode: 1 });
  });
});

describe('manage register-user with an upstream identity', () => {
  const command = (username: string, mapping: string) =>
    registerUserCommand(deps, {
      ...{ username, upstreamProviderMapping: [mapping], emails: [], yes: true, json: false },
      ...{ ignorePasswordComplexity: false, skipHomeserverCheck: false },
    });

  test('links it to the new account, once', async () => {
    const provider = newId<'upstream-provider'>(Date.now());
    await rows(
      `insert into upstream_providers (id, client_id, ui_order, created_at) values ($1::uuid, 'x', 1, now())`,
      toUuid(provider),
    );
    await command(`${name}-linked`, `${provider}:auth0|a:b`);
    expect(printed.err).not.toContain('cannot sign in');
    const [link] = await rows<{ username: string }>(
      `select u.username from upstream_links l join users u on u.id = l.user_id where l.subject = 'auth0|a:b'`,
    );
    expect(link).toEqual({ username: `${name}-linked` });
    await expect(command(`${name}-again`, `${provider}:auth0|a:b`)).rejects.toMatchObject({
      message: `the subject auth0|a:b of provider ${provider} belongs to another user`,
      exitCode: 1,
    });
    await rows('update upstream_providers set disabled_at = now() where id = $1::uuid', toUuid(provider));
    await expect(command(`${name}-again`, `${provider}:c`)).rejects.toThrow(
      `provider ${provider} does not exist or is not enabled`,
    );
    expect(await rows('select from users where username = $1::text', `${name}-again`)).toEqual([]);
  });

  test.each(['', 'nonsense', '01HZX7T3Q8V3M5N6P7R8S9T0AB', '01HZX7T3Q8V3M5N6P7R8S9T0AB:', 'x:y'])(
    'rejects %j as a usage error',
    async (mapping) => {
      await expect(command(`${name}-wrong`, mapping)).rejects.toMatchObject({ exitCode: 2 });
    },
  );
});

describe('a lock is announced by email (browser-flows 11.9)', () => {
  const lock = (options: { deactivate?: boolean; erase?: boolean } = {}) =>
    lockUserCommand(deps, { user: name, deactivate: false, erase: false, json: false, ...options });

  test('once, and not when the user is unlocked before the email is sent', async () => {
    await lock();
    await lock();
    const [mail, ...others] = await deliver();
    expect(others).toEqual([]);
    expect(mail).toMatchObject({ to: `${name}@mail.example`, subject: 'Your account was locked' });
    expect(readable(mail?.text)).toContain(`An administrator locked your account ${name}.`);
    await unlockUserCommand(deps, { user: name, reactivate: false, json: false });
    await lock();
    await unlockUserCommand(deps, { user: name, reactivate: false, json: false });
    expect(await deliver()).toEqual([]);
  });

  test('deactivation is announced to every address of the account, each with its own email', async () => {
    await addEmailCommand(deps, { user: name, email: `second-${name}@mail.example`, json: false });
    await deliver();
    await lock({ deactivate: true, erase: true });
    const received = await deliver();
    expect(received.map(({ to }) => to).toSorted()).toEqual([`${name}@mail.example`, `second-${name}@mail.example`]);
    expect(new Set(received.map(({ subject }) => subject))).toEqual(new Set(['Your account was deactivated']));
    await lock({ deactivate: true });
    expect(await deliver()).toEqual([]);
  });

  test('deactivation is not announced once it was undone', async () => {
    await lock({ deactivate: true });
    await unlockUserCommand(deps, { user: name, reactivate: true, json: false });
    expect(await deliver()).toEqual([]);
  });

  test('sends nothing where the operator disabled notices', async () => {
    deps = { ...deps, sendsNotices: false };
    await lock({ deactivate: true });
    expect(await rows(`select from queue_jobs where queue = 'send-security-notice'`)).toEqual([]);
  });

  test.each([
    ['de', 'Ihr Konto wurde gesperrt', 'Ihr Konto wurde deaktiviert'],
    ['es', 'Se ha bloqueado su cuenta', 'Se ha desactivado su cuenta'],
    ['fr', 'Votre compte a été verrouillé', 'Votre compte a été désactivé'],
    ['ar', 'تم قفل حسابك', 'تم تعطيل حسابك'],
  ])("in the account's language: %s", async (language, locked, deactivated) => {
    await rows('update users set locale = $2::text where id = $1::uuid', toUuid(user), language);
    await lock();
    const [first] = await deliver();
    await lock({ deactivate: true });
    const [second] = await deliver();
    expect([first?.subject, second?.subject]).toEqual([locked, deactivated]);
    for (const mail of [first, second]) {
      expect(mail?.html).toContain(`<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">`);
      expect(mail?.text).not.toMatch(/undefined|\{[a-z]+\}/);
      expect(readable(mail?.html)).toContain(name);
    }
  });
});

test("deactivation deletes what others started with the account's addresses (operations 6.3)", async () => {
  const email = `${name}@mail.example`;
  const [joining, recovering] = [service.browser(), service.browser()];
  await beginRegistration(joining, { username: `${name}-new`, email });
  await recovering.open('/recover');
  await recovering.submit({ email });
  const begun = () =>
    rows<{ registrations: number; codes: number; recoveries: number }>(
      `select (select count(*)::integer from user_registrations where username = $1::text) as registrations,
              (select count(*)::integer from user_email_authentications where email_key = $2::text) as codes,
              (select count(*)::integer from user_recovery_sessions where email_key = $2::text) as recoveries`,
      ...[`${name}-new`, email],
    );
  expect(await begun()).toEqual([{ registrations: 1, codes: 1, recoveries: 1 }]);
  await lockUserCommand(deps, { user: name, deactivate: true, erase: false, json: false });
  expect(await begun()).toEqual([{ registrations: 0, codes: 0, recoveries: 0 }]);
  expect((await deliver()).map(({ subject }) => subject)).toEqual(['Your account was deactivated']);
  await joining.follow();
  expect(joining.page).toMatchObject({ status: 404, errorCodes: ['registration_not_found'] });
});
