import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { say } from '../../browser/checks.js';
import { loadTypeScript } from '../../browser/load-typescript.js';
import { CLIENT_ID, CLIENT_SECRET, Load, PASSWORD, USERNAME } from '../../cluster/load.js';
import { DATABASE_USER, databaseSettings, Instances, requireNone, startDatabase } from '../instances.js';

const { Browser } = await loadTypeScript('test/support/browser.ts');

const ROWS = {
  users: 1_000_000,
  user_sessions: 2_000_000,
  oauth2_sessions: 5_000_000,
  compat_sessions: 3_000_000,
  oauth2_access_tokens: 50_000_000,
};
/** One in this number of access tokens has expired and needs cleanup. */
const EXPIRED = 10;
/** Fraction of the rows for a long run on a shared machine. */
const SHARE = Number(process.env.LARGE_DATABASE_SHARE ?? 1);
const SHORT_SHARE = 1 / 1_000;
const QUIET_MS = 60_000;
/** Number of deleted tokens that shows that the cleanup works. */
const ENOUGH = 10_000;
const MAX_WAIT_MS = 60_000;
const CLEANING_MS = 180_000;
/** The server logs longer lock waits. */
const MAX_LOCK = '100ms';
const AUTHORIZATION = `Basic ${Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString('base64')}`;
const ACCOUNT_PAGE = `query {
  viewer { ... on User {
    id username
    browserSessions(state: ACTIVE, first: 6) { edges { node { id createdAt lastActiveAt } } }
    appSessions(state: ACTIVE, first: 6) { edges { node { __typename } } }
  } }
}`;
const PAUSE_MS = 20;
const REMOVED = "select n_tup_del as count from pg_stat_user_tables where relname = 'oauth2_access_tokens'";

export const fault = {
  id: 'F-23',
  title: 'a large database, while expired tokens are removed',
  async run({ checks, folder, isShort }) {
    const share = isShort ? SHORT_SHARE : SHARE;
    const counts = Object.fromEntries(Object.entries(ROWS).map(([table, rows]) => [table, Math.round(rows * share)]));
    const logs = { logging_collector: 'on', log_directory: 'log', log_filename: 'server.log' };
    const waits = { log_lock_waits: 'on', deadlock_timeout: MAX_LOCK };
    // The WAL need not contain the index builds.
    const filling = { max_wal_size: '16GB', wal_level: 'minimal', max_wal_senders: '0' };
    const database = await startDatabase(folder, { ...logs, ...waits, ...filling, shared_buffers: '1GB' });
    const instances = new Instances(folder);
    const client = new pg.Client({ ...database, user: DATABASE_USER, database: 'postgres' });
    try {
      const { program, base } = await instances.add(databaseSettings(database));
      await client.connect();
      const load = await instances.load();
      const requests = await Requests.authorize(base);
      load.start();
      const small = await requests.measure(isShort ? 2_000 : QUIET_MS);
      await load.stop();
      const expired = counts.oauth2_access_tokens / EXPIRED;
      const fillingSince = performance.now();
      await instances.fill(counts, { say, expired });
      say(`filled within ${secondsSince(fillingSince)} s`);
      const linesOfFilling = serverLog(database.host).length;
      load.start();
      const large = await requests.measure(isShort ? 2_000 : QUIET_MS);

      const removed = async () => Number((await client.query(REMOVED)).rows[0].count);
      const removedBefore = await removed();
      const startedAt = performance.now();
      await program.run(['jobs', 'run', 'cleanup-oauth2-access-tokens']);
      const during = await requests.measure(isShort ? 10_000 : CLEANING_MS);
      // While requests wait for the processor, the cleanup waits too.
      const deadline = performance.now() + MAX_WAIT_MS;
      while ((await removed()) - removedBefore < Math.min(expired, ENOUGH) && performance.now() < deadline) {
        await pause(PAUSE_MS);
      }
      const seconds = secondsSince(startedAt);
      await load.stop();
      const count = (await removed()) - removedBefore;
      say(`${count} of ${expired} expired tokens removed within ${seconds} s`);
      say(`requests of people: ${JSON.stringify(load.counts)}, ${JSON.stringify(load.unavailable)}`);
      say('p50 and p99 while small, large, and large while tokens are removed:');
      for (const name of Object.keys(small)) {
        say(`${name}: ${[small, large, during].map((measured) => figures(measured[name])).join(', ')}`);
      }
      await checks.that('F-23: the clean-up works, in batches', () => {
        if (count < Math.min(expired, ENOUGH)) throw new Error(`${count} removed`);
      });
      await checks.that('F-23: no request failed, and everything acknowledged is so', async () => {
        const { acknowledged, signIns, ...failed } = load.counts;
        const comparing = performance.now();
        const compared = await load.compare();
        say(`${compared} facts compared within ${secondsSince(comparing)} s`);
        requireNone([...load.faults, ...requests.faults]);
        if (Object.values(failed).some((number) => number > 0)) throw new Error(JSON.stringify(failed));
        if (signIns === 0) throw new Error('nobody signed in');
      });
      await checks.that(`F-23: nobody waited for a lock for ${MAX_LOCK}`, () => {
        const lines = serverLog(database.host).slice(linesOfFilling);
        requireNone(lines.filter((line) => line.includes('still waiting for')));
      });
    } finally {
      await client.end();
      await instances.stop();
      await database.remove();
    }
  },
};

/** Requests of users, clients and administrators, one after the other. */
class Requests {
  faults = [];
  #base;
  #requests;
  #refreshToken;

  static async authorize(base) {
    const requests = new Requests();
    requests.#base = base;
    const fields = { grant_type: 'client_credentials', scope: 'urn:mas:admin' };
    const { access_token: token } = await requests.#send('oauth2/token', AUTHORIZATION, fields);
    const bearer = `Bearer ${token}`;
    const { data } = await requests.#send(`api/admin/v1/users/by-username/${USERNAME}`, bearer);
    const list = (path) => () => requests.#send(`api/admin/v1/${path}`, bearer);
    const people = new Load([base]);
    requests.#refreshToken = (await people.signIn()).refreshToken;
    const browser = new Browser({ listener: base.slice(0, -1), publicBase: base });
    await browser.get('login');
    await browser.submit({ username: USERNAME, password: PASSWORD });
    requests.#requests = {
      introspection: () => requests.#send('oauth2/introspect', AUTHORIZATION, { token }),
      'token refresh': () => requests.#refresh(),
      'sign-in at an application, from the first page to its tokens': () => people.signIn(),
      'login page': () => requests.#send('login'),
      'account page': async () => requirePage(await browser.get('account/')),
      'data of an account page': () => requests.#askAsPage(browser),
      'accounts, first page': list('users?page[first]=100'),
      'accounts, first page without count': list('users?page[first]=100&count=false'),
      'accounts, last page': list('users?page[last]=100'),
      'accounts by a part of the name': list('users?filter[search]=person-4711'),
      'accounts by a part of the name, without count': list('users?filter[search]=person-4711&count=false'),
      'sessions of an account': list(`oauth2-sessions?filter[user]=${data.id}`),
      'live sessions, first page': list('oauth2-sessions?filter[status]=active&page[first]=100'),
      'live sessions, first page without count': list(
        'oauth2-sessions?filter[status]=active&page[first]=100&count=false',
      ),
      'browser sessions, first page': list('user-sessions?page[first]=100'),
    };
    return requests;
  }

  /** @returns the sorted latencies in milliseconds, by kind of request */
  async measure(during) {
    const measured = Object.fromEntries(Object.keys(this.#requests).map((name) => [name, []]));
    const endsAt = performance.now() + during;
    while (performance.now() < endsAt) {
      for (const [name, send] of Object.entries(this.#requests)) {
        const startedAt = performance.now();
        await send().catch((error) => this.faults.push(`${name}: ${error.message}`));
        measured[name].push(performance.now() - startedAt);
        await pause(PAUSE_MS);
      }
    }
    for (const list of Object.values(measured)) list.sort((one, other) => one - other);
    return measured;
  }

  async #refresh() {
    const fields = { grant_type: 'refresh_token', refresh_token: this.#refreshToken };
    this.#refreshToken = (await this.#send('oauth2/token', AUTHORIZATION, fields)).refresh_token;
  }

  async #askAsPage(browser) {
    const headers = { 'content-type': 'application/json', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' };
    const page = await browser.postRaw('graphql', JSON.stringify({ query: ACCOUNT_PAGE }), headers);
    requirePage(page);
    if (!page.body.includes('"browserSessions"')) throw new Error(`/graphql answered ${page.body.slice(0, 200)}`);
  }

  async #send(path, authorization, fields) {
    const headers = authorization === undefined ? {} : { authorization };
    const body = fields === undefined ? undefined : new URLSearchParams(fields);
    const response = await fetch(this.#base + path, { method: body === undefined ? 'GET' : 'POST', headers, body });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 200)}`);
    return response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : undefined;
  }
}

function requirePage({ url, status, body }) {
  if (status !== 200) throw new Error(`${url} answered ${status}: ${body.slice(0, 200)}`);
}

function secondsSince(startedAt) {
  return ((performance.now() - startedAt) / 1000).toFixed(0);
}

/** @param sorted milliseconds */
function figures(sorted) {
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]?.toFixed(1);
  return `${at(0.5)} and ${at(0.99)} ms`;
}

function serverLog(host) {
  const logs = join(host, 'data/log');
  return readdirSync(logs).flatMap((name) => readFileSync(join(logs, name), 'utf8').split('\n'));
}
