import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../../../test/support/free-port.js';
import { findInstalledPrograms, postgresAccount, startPostgres } from '../../../test/support/start-postgres.js';
import { say } from '../../browser/checks.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../cluster/load.js';
import { until } from '../../cluster/processes.js';
import { DATABASE_USER, Instances } from '../instances.js';

const SIGN_IN_SECONDS = 30;
const SHOWN = 5;
/** Number of tokens revoked before the standby lags, and afterwards. */
const TOKENS = 10;
const AUTHORIZATION = `Basic ${Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString('base64')}`;

/** `tools/cluster` tests the synchronous standby. */
export const fault = {
  id: 'F-07',
  title: 'fail-over to an asynchronous standby that lags',
  async run({ checks, folder, isShort }) {
    const [loadMs, lagMs] = isShort ? [3_000, 1_000] : [30_000, 15_000];
    const { primary, standby } = await startPair(folder);
    const instances = new Instances(folder);
    try {
      const hosts = [primary, standby].map(({ port }) => `127.0.0.1:${port}`).join(',');
      const uri = `postgres://${DATABASE_USER}@${hosts}/postgres?target_session_attrs=read-write&sslmode=disable`;
      // Only the log still has the last changes.
      const change = (settings) => ({ ...settings, logging: { level: 'info' } });
      for (let count = 0; count < 2; count += 1) await instances.add({ uri }, { change });
      const load = await instances.load();
      load.start();
      await pause(loadMs);
      await load.stop();
      const issued = await issue(instances);
      const ended = await issue(instances);
      await revoke(instances, ended);
      const known = { live: new Set([...load.live, ...issued]), revoked: new Set([...load.revoked, ...ended]) };
      await untilCaughtUp(primary, standby);
      await receiveFrom(standby, '');
      const pausedAt = new Date();
      load.start();
      await revoke(instances, issued);
      await pause(lagMs);
      await primary.server.kill();
      const killedAt = new Date();
      await load.stop();
      const told = { live: load.live, revoked: new Set([...load.revoked, ...issued]) };
      await ask(standby, 'select pg_promote()');
      await checks.that('F-07: people sign in again at the standby', () =>
        until(() => load.signIn().catch(() => undefined), 'a sign-in', SIGN_IN_SECONDS),
      );
      await checks.that('F-07: what was acknowledged before the standby fell behind is there', async () => {
        const { live, revoked } = await stateOf(instances, known);
        const lost = live.filter(({ active }) => !active);
        const again = revoked.filter(({ active }) => active);
        say(`the standby knew ${live.length} tokens that work, and ${revoked.length} that have ended`);
        if (lost.length + again.length > 0) throw new Error(`${lost.length} are lost, ${again.length} work again`);
      });
      await checks.that('F-07: what is lost are the last moments, and the log still knows them', async () => {
        const { live, revoked } = await stateOf(instances, told);
        const again = revoked.filter(({ active }) => active).map(({ token }) => token);
        const lost = live.filter(({ active }) => !active);
        say(`lost: ${lost.length} tokens that were issued; ${again.length} work again that had ended, among them`);
        for (const token of again.slice(0, SHOWN)) say(`  ${token.slice(0, 12)}…`);
        if (again.length < TOKENS) throw new Error('the standby was not behind');
        const listed = await listEnded(instances, folder, pausedAt, killedAt);
        const count = (activity) => listed.split(activity).length - 1;
        const kinds = ['token-revocation', 'browser-logout', 'chat-logout', 'account:'].map(
          (activity) => `${count(activity)} ${activity}`,
        );
        say(`the log of these moments lists ${kinds.join(', ')}`);
        if (count('token-revocation') < TOKENS) throw new Error('the log does not list every revocation');
      });
    } finally {
      await instances.stop();
      await standby.server.remove();
      await primary.server.remove();
    }
  },
};

/**
 * @param tokens like `load.live` and `load.revoked`
 * @returns for each token whether it works
 */
async function stateOf(instances, { live, revoked }) {
  const stateOfAll = async (tokens) => {
    const states = [];
    for (const token of tokens) {
      const { active } = await post(instances, 'oauth2/introspect', { token });
      states.push({ token, active });
    }
    return states;
  };
  return { live: await stateOfAll(live), revoked: await stateOfAll(revoked) };
}

async function issue(instances) {
  const tokens = [];
  while (tokens.length < TOKENS) {
    tokens.push((await post(instances, 'oauth2/token', { grant_type: 'client_credentials' })).access_token);
  }
  return tokens;
}

async function revoke(instances, tokens) {
  for (const token of tokens) await post(instances, 'oauth2/revoke', { token });
}

/**
 * Sends a request to one of the instances until it responds.
 * @returns the JSON
 */
async function post({ all: [{ base }] }, path, fields) {
  return await until(async () => {
    const headers = { authorization: AUTHORIZATION };
    const response = await fetch(base + path, { method: 'POST', headers, body: new URLSearchParams(fields) });
    const text = await response.text();
    return response.status === 200 && (text === '' ? {} : JSON.parse(text));
  }, path);
}

/** Searches the log as described in the guide on high availability. */
async function listEnded({ all }, folder, since, until) {
  const file = join(folder, 'latchkey.log');
  writeFileSync(file, all.map(({ log }) => log).join(''));
  return await all[0].program.run([
    ...['activity', '--since', since.toISOString(), '--until', until.toISOString()],
    ...['--activity', 'browser-logout,chat-logout,token-revocation,account', file],
  ]);
}

async function startPair(folder) {
  const shared = {
    programs: findInstalledPrograms(),
    account: postgresAccount(),
    user: DATABASE_USER,
    isDurable: true,
  };
  const start = async (name, port, more) => ({
    port,
    server: await startPostgres({
      ...{ ...shared, ...more, folder: join(folder, name) },
      settings: { listen_addresses: '127.0.0.1', port: String(port), max_connections: '100' },
    }),
  });
  const primary = await start('primary', await freePort(), {});
  await primary.server.stop();
  const standby = await start('standby', await freePort(), { follows: join(folder, 'primary') });
  await primary.server.start();
  await receiveFrom(standby, `host=127.0.0.1 port=${primary.port} user=${DATABASE_USER}`);
  return { primary, standby };
}

async function untilCaughtUp(primary, standby) {
  const [{ position }] = await ask(primary, 'select pg_current_wal_flush_lsn() as position');
  const isThere = async () => {
    const [{ is }] = await ask(standby, `select pg_last_wal_replay_lsn() >= '${position}' as is`);
    return is;
  };
  await until(isThere, 'the standby');
}

/** @param primary its address; empty: the standby keeps running without replication */
async function receiveFrom(standby, primary) {
  await ask(standby, `alter system set primary_conninfo = '${primary}'`);
  await ask(standby, 'select pg_reload_conf()');
  const isDone = async () => {
    const [{ receives }] = await ask(standby, `select exists (select from pg_stat_wal_receiver) as receives`);
    return receives === (primary !== '');
  };
  await until(isDone, 'the standby to follow, or not to');
}

async function ask({ port }, text) {
  const client = new pg.Client({ host: '127.0.0.1', port, user: DATABASE_USER, database: 'postgres' });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
