/** Browser sessions, identities at providers, jobs and the rest after an import from Matrix Authentication Service. */
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { cleanUpAll } from '#test/support/clean-up.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { beginRegistration } from '#test/support/registering.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { notifyHomeserver } from '#test/support/stand-in-homeserver/run-jobs.ts';
import { startStandInHomeserver } from '#test/support/stand-in-homeserver/stand-in-homeserver.ts';
import { startUpstreamPeer } from '#test/support/upstream-peer.ts';
import { bundleWorker } from '#test/support/worker-entry.ts';
import { HOMESERVER_SECRET, type MigratedService, Migration } from './migration.test-support.ts';
import {
  ago,
  BROWSER_SESSION,
  C2,
  COOKIE,
  ENCRYPTED_SECRET,
  H1,
  newUuid,
  USERS,
  ulid,
} from './vectors.test-support.ts';

const DAY_MS = 86_400_000;
const DAY_SECONDS = 86_400;

const peer = await sharedByTests(startUpstreamPeer());
const homeserver = await sharedByTests(startStandInHomeserver(HOMESERVER_SECRET, 'old.example'));

const migration = await sharedByTests(Migration.create());

beforeEach(async () => {
  await migration.restart();
  await add('users', { user_id: USERS.alice, username: 'alice' });
});

const add = async (table: string, row: Readonly<Record<string, unknown>>) => await migration.mas.add(table, row);
const stored = async <Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
  await sql<Row>(migration.target.database, text, [...values]);

/** Opens the account page. @returns whether the browser is signed in */
async function isSignedIn(migrated: MigratedService, value: string, browser = migrated.browser()): Promise<boolean> {
  browser.cookies.set('session', value);
  const { status, location } = await browser.get('/account/');
  if (status !== 200) expect([status, new URL(location ?? '').pathname]).toEqual([303, '/login']);
  return status === 200;
}

describe('browser sessions', () => {
  const addSession = async (row: Readonly<Record<string, unknown>> = {}) =>
    await add('user_sessions', {
      ...{ user_session_id: BROWSER_SESSION, user_id: USERS.alice, last_active_at: ago(DAY_MS) },
      ...row,
    });

  test('case 38: the cookie of MAS continues its session once, with a cookie of this server', async () => {
    await addSession();
    const migrated = await migration.serve();
    const browser = migrated.browser();
    expect(await isSignedIn(migrated, COOKIE, browser)).toBe(true);
    browser.cookies.delete('session');
    expect((await browser.get('/account/')).status).toBe(200);
    // Whoever has the old cookie gains nothing from it any more.
    expect(await isSignedIn(migrated, COOKIE)).toBe(false);
    expect(migrated.service.logLines().filter((line) => / (WARN|ERROR) /.test(line))).toEqual([]);
    expect(await stored('select id from user_sessions')).toEqual([{ id: BROWSER_SESSION }]);
  });

  test('case 38: of several requests at the same time, one continues the session', async () => {
    await addSession();
    const migrated = await migration.serve();
    const outcomes = await Promise.all(Array.from({ length: 6 }, async () => await isSignedIn(migrated, COOKIE)));
    expect(outcomes.filter((isOne) => isOne)).toEqual([true]);
  });

  test('case 38: no other cookie continues a session', async () => {
    await addSession();
    const migrated = await migration.serve();
    const changed = COOKIE.replace('jfaR', 'jfbR');
    const otherKey = Buffer.from(COOKIE.replace('%2F', '/').replace('%3D', '='), 'base64').reverse().toString('base64');
    for (const value of [changed, otherKey, '', 'x', 'A'.repeat(4000), '%%%', COOKIE.slice(0, 30)]) {
      expect(await isSignedIn(migrated, value)).toBe(false);
    }
    expect(await isSignedIn(migrated, COOKIE)).toBe(true);
  });

  test('case 38: a finished session and one of a locked account do not continue', async () => {
    await addSession({ finished_at: ago(DAY_MS) });
    expect(await isSignedIn(await migration.serve(), COOKIE)).toBe(false);
    await migration.restart();
    await add('users', { user_id: USERS.alice, username: 'alice', locked_at: ago(DAY_MS) });
    await addSession();
    const migrated = await migration.serve();
    expect(await isSignedIn(migrated, COOKIE)).toBe(false);
    await stored('update users set locked_at = null');
    expect(await isSignedIn(migrated, COOKIE)).toBe(true);
  });

  test('case 38: after two weeks, the cookie of MAS is ignored and its row is deleted', async () => {
    await addSession({ last_active_at: new Date() });
    const clock = new FakeClock(Date.now());
    const migrated = await migration.serve({ clock });
    clock.advanceSeconds(15 * DAY_SECONDS);
    expect(await isSignedIn(migrated, COOKIE)).toBe(false);
    await cleanUpAll(migrated.service.core);
    expect(await stored('select user_session_id from imported_browser_sessions')).toEqual([]);
  });
});

describe('identities at providers', () => {
  test('case 39: the same identity signs in, and a sign-out at the provider ends what it opened', async () => {
    const [configured, gone] = [newUuid(), newUuid()];
    await migration.restart({
      upstream_oauth2: {
        providers: [
          {
            ...{ id: ulid(configured), issuer: peer.issuer, client_id: 'mas', token_endpoint_auth_method: 'none' },
            on_backchannel_logout: 'logout_all',
          },
        ],
      },
    });
    await add('users', { user_id: USERS.alice, username: 'alice' });
    await add('users', { user_id: USERS.bob, username: 'bob' });
    const provider = { issuer: peer.issuer, client_id: 'mas' };
    await add('upstream_oauth_providers', { upstream_oauth_provider_id: configured, ...provider });
    await add('upstream_oauth_providers', { upstream_oauth_provider_id: gone, ...provider, disabled_at: ago(DAY_MS) });
    const link = newUuid();
    const ofAlice = { upstream_oauth_link_id: link, upstream_oauth_provider_id: configured, subject: '42' };
    await add('upstream_oauth_links', { ...ofAlice, user_id: USERS.alice });
    const ofBob = { upstream_oauth_link_id: newUuid(), upstream_oauth_provider_id: gone, subject: 'x' };
    await add('upstream_oauth_links', { ...ofBob, user_id: USERS.bob });
    await add('upstream_oauth_links', { ...ofBob, upstream_oauth_link_id: newUuid(), subject: 'nobody' });
    await add('user_sessions', { user_session_id: BROWSER_SESSION, user_id: USERS.alice });
    await add('upstream_oauth_authorization_sessions', {
      ...{ upstream_oauth_authorization_session_id: newUuid(), upstream_oauth_provider_id: configured },
      ...{ upstream_oauth_link_id: link, state: 'state', completed_at: ago(DAY_MS), consumed_at: ago(DAY_MS) },
      ...{ id_token_claims: { sub: '42', sid: 's1' }, user_session_id: BROWSER_SESSION },
    });
    expect((await migration.check()).warnings.map(({ code }) => code)).toContain('provider_not_configured');
    const migrated = await migration.serve();

    const browser = migrated.browser();
    await browser.get(`/upstream/authorize/${ulid(configured)}`);
    await browser.get(peer.signIn(browser.page.location ?? '', { claims: { sub: '42' } }));
    await browser.follow();
    await browser.submit();
    const { body } = await browser.postRaw(
      '/graphql',
      JSON.stringify({ query: '{ viewer { ... on User { username } } }' }),
      {
        'content-type': 'application/json',
      },
    );
    expect(JSON.parse(body)).toMatchObject({ data: { viewer: { username: 'alice' } } });

    expect(
      await stored(`select l.subject, p.disabled_at is null as is_enabled, u.username
                      from upstream_links l join upstream_providers p on p.id = l.provider_id
                      left join users u on u.id = l.user_id order by l.subject`),
    ).toEqual([
      { subject: '42', is_enabled: true, username: 'alice' },
      { subject: 'x', is_enabled: false, username: 'bob' },
    ]);

    const now = Math.floor(Date.now() / 1000);
    const token = await peer.sign(
      {
        ...{ iss: peer.issuer, aud: 'mas', iat: now, exp: now + 120, jti: randomUUID(), sid: 's1' },
        events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      },
      { typ: 'logout+jwt' },
    );
    const response = await fetch(`${migrated.service.address}/upstream/backchannel-logout/${ulid(configured)}`, {
      method: 'POST',
      body: new URLSearchParams({ logout_token: token }),
    });
    expect(response.status).toBe(200);
    expect(await isSignedIn(migrated, COOKIE)).toBe(false);
    expect(
      await stored('select finished_at is not null as is_finished from user_sessions where id = $1', [BROWSER_SESSION]),
    ).toEqual([{ is_finished: true }]);
  });
});

describe('accounts at the homeserver', () => {
  const connected = {
    homeserver: { homeserver: 'old.example', secret: HOMESERVER_SECRET, endpoint: homeserver.endpoint },
  };

  test('case 12: a locked account that the homeserver has deactivated is reported, and imported as locked', async () => {
    await migration.restart(connected);
    await add('users', { user_id: USERS.erna, username: 'erna', locked_at: '2024-12-01T00:00:00Z' });
    await add('users', { user_id: USERS.bob, username: 'bob', locked_at: '2024-12-01T00:00:00Z' });
    homeserver.addUser('erna').isDeactivated = true;
    homeserver.addUser('bob');
    const { exitCode, warnings } = await migration.check();
    expect(exitCode).toBe(11);
    expect(warnings.find(({ code }) => code === 'deactivated_at_homeserver')?.message).toMatch(
      /^1 locked accounts .*\(erna\)/,
    );
    await migration.migrate();
    expect(
      await stored('select locked_at is not null as is_locked, deactivated_at from users where id = $1', [USERS.erna]),
    ).toEqual([{ is_locked: true, deactivated_at: null }]);
  });

  test('case 12: an unreachable homeserver is a warning', async () => {
    await migration.restart(connected);
    await add('users', { user_id: USERS.erna, username: 'erna', locked_at: ago(DAY_MS) });
    await homeserver.setFault({ kind: 'refuse' });
    try {
      expect((await migration.check()).warnings.map(({ code }) => code)).toContain('homeserver_unreachable');
    } finally {
      await homeserver.setFault(undefined);
    }
  });
});

describe('open work and the rest', () => {
  const settings = {
    homeserver: { homeserver: 'old.example', secret: HOMESERVER_SECRET, endpoint: homeserver.endpoint },
    branding: { tos_uri: 'https://example.org/terms' },
  };

  test('case 40: open jobs, registration tokens, policy data and terms', async () => {
    await migration.restart(settings);
    await add('users', { user_id: USERS.bob, username: 'bob' });
    await add('users', { user_id: USERS.erna, username: 'erna', locked_at: ago(DAY_MS) });
    for (const username of ['bob', 'erna']) homeserver.addUser(username);
    const password = { hashed_password: H1, version: 1 };
    await add('user_passwords', { user_password_id: newUuid(), user_id: USERS.erna, ...password });
    await add('user_emails', { user_email_id: newUuid(), user_id: USERS.erna, email: 'erna@example.org' });
    await add('queue_jobs', {
      ...{ queue_job_id: newUuid(), queue_name: 'deactivate-user' },
      payload: { user_id: ulid(USERS.erna), hs_erase: true },
    });
    await add('queue_jobs', {
      ...{ queue_job_id: newUuid(), queue_name: 'provision-user', status: 'scheduled' },
      payload: { user_id: ulid(USERS.bob), set_display_name: 'Bob' },
    });
    await add('queue_jobs', { queue_job_id: newUuid(), queue_name: 'cleanup-queue-jobs' });
    const done = { queue_job_id: newUuid(), queue_name: 'sync-devices', status: 'completed' };
    await add('queue_jobs', { ...done, payload: { user_id: ulid(USERS.bob) } });
    const token = (text: string, row: Readonly<Record<string, unknown>>) =>
      add('user_registration_tokens', { user_registration_token_id: newUuid(), token: text, ...row });
    await token('Spring-24', { usage_limit: 5, times_used: 7 });
    await token('über uns!', {});
    await token('revoked', { revoked_at: ago(DAY_MS) });
    await token('never', { usage_limit: 0 });
    await add('oauth2_clients', {
      ...{ oauth2_client_id: C2, token_endpoint_auth_method: 'client_secret_basic' },
      ...{ encrypted_client_secret: ENCRYPTED_SECRET, grant_type_client_credentials: true },
    });
    await add('policy_data', { policy_data_id: newUuid(), data: { admin_clients: ['01J5Z0000000000000000C0009'] } });
    await add('policy_data', { policy_data_id: newUuid(), data: { admin_clients: [ulid(C2)] } });
    await add('user_terms', { user_terms_id: newUuid(), user_id: USERS.bob, terms_url: 'https://example.org/terms' });
    await add('queue_workers', { queue_worker_id: newUuid(), registered_at: ago(DAY_MS), last_seen_at: ago(20_000) });

    const { exitCode, warnings, errors } = await migration.check();
    expect([exitCode, errors]).toEqual([11, []]);
    expect(warnings.find(({ code }) => code === 'mas_running')?.message).toContain('MAS is running');
    expect(warnings.find(({ code }) => code === 'open_jobs')?.message).toContain('2 jobs of MAS');

    // The changes of a running MAS would be lost.
    expect((await migration.run('migrate')).exitCode).toBe(10);
    const rehearsal = await migration.run('migrate', ['--dry-run', '--json']);
    expect(rehearsal.exitCode).toBe(0);
    expect(await stored('select id from users')).toEqual([]);
    await migration.mas.query('update queue_workers set shutdown_at = now()');
    const run = await migration.run('migrate', ['--json']);
    expect(run.exitCode).toBe(0);
    expect(JSON.parse(run.out).entities).toEqual(JSON.parse(rehearsal.out).entities);
    expect((await migration.run('migrate')).exitCode).toBe(10);
    expect((await migration.check()).errors.map(({ code }) => code)).toEqual(['target_not_empty']);

    const migrated = await migration.start();
    const { core } = migrated.service;
    await core.policy.refresh();
    await notifyHomeserver(core);
    expect(homeserver.user('bob')).toMatchObject({ displayName: 'Bob', isDeactivated: false });
    expect(homeserver.user('erna')).toMatchObject({ isDeactivated: true });
    expect(
      await stored(`select deactivated_at is not null as is_deactivated, homeserver_erased_at is not null as is_erased,
                           (select count(*)::integer from user_passwords p where p.user_id = u.id) as passwords,
                           (select count(*)::integer from user_emails e where e.user_id = u.id) as emails
                      from users u where username = 'erna'`),
    ).toEqual([{ is_deactivated: true, is_erased: true, passwords: 0, emails: 0 }]);

    const basic = Buffer.from(`${ulid(C2)}:s3cretOfTheWikiApp00`).toString('base64');
    const grant = { grant_type: 'client_credentials', scope: 'urn:mas:admin' };
    expect((await migrated.token(grant, { authorization: `Basic ${basic}` })).status).toBe(200);
    expect(await stored('select username, terms_uri from user_terms t join users u on u.id = t.user_id')).toEqual([
      { username: 'bob', terms_uri: 'https://example.org/terms' },
    ]);
    const state = await stored(
      `select usage_limit, times_used, revoked_at is not null as is_revoked from user_registration_tokens order by id`,
    );
    expect(state).toEqual([
      { usage_limit: 7, times_used: 7, is_revoked: false },
      { usage_limit: null, times_used: 0, is_revoked: false },
      { usage_limit: null, times_used: 0, is_revoked: true },
      { usage_limit: 1, times_used: 0, is_revoked: true },
    ]);
  });

  test('case 40: a registration token with any characters registers, and a used-up one does not', async () => {
    await migration.restart({
      account: { password_registration_enabled: true, password_registration_token_required: true },
    });
    await add('users', { user_id: USERS.alice, username: 'alice' });
    await add('user_registration_tokens', { user_registration_token_id: newUuid(), token: 'über uns!' });
    await add('user_registration_tokens', {
      ...{ user_registration_token_id: newUuid(), token: 'revoked', revoked_at: ago(DAY_MS) },
    });
    await add('user_registration_tokens', {
      ...{ user_registration_token_id: newUuid(), token: 'Spring-24', usage_limit: 5, times_used: 7 },
    });
    const strength = new URL('../../src/domain/accounts/passwords/strength.worker.ts', import.meta.url);
    const migrated = await migration.serve({ strengthWorker: await bundleWorker(strength) });
    const browser = migrated.browser();
    await beginRegistration(browser, { username: 'new' });
    await browser.follow();
    for (const text of ['Spring-24', 'revoked', 'über uns']) {
      expect(await browser.submit({ token: text })).toMatchObject({ status: 200, errorCodes: ['invalid'] });
    }
    expect((await browser.submit({ token: 'über uns!' })).status).toBe(303);
    await browser.follow();
    const { location } = await browser.submit({ action: 'skip' });
    expect((await browser.get(location ?? '')).status).toBe(303);
    expect(await stored('select username from users order by username')).toEqual([
      { username: 'alice' },
      { username: 'new' },
    ]);
  });
});
