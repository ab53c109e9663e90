/**
 * An older version and this one side by side, under load: the older one fills a database of its own schema, this one
 * migrates it while people sign in and applications use their tokens, one instance at a time is replaced, put back, and
 * replaced again. No request fails, nobody is signed out, and everything that was acknowledged is so (operations 8.3, 10.11;
 * security F-21).
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { root } from '../../scripts/steps/places.js';
import { freePort } from '../../test/support/free-port.js';
import { Program, stopProcess } from '../../test/support/program.js';
import { findInstalledPrograms, postgresAccount, startPostgres } from '../../test/support/start-postgres.js';
import { Checks, say } from '../browser/checks.js';
import { CALLBACK, CLIENT_ID, CLIENT_SECRET, Load, PASSWORD, USERNAME } from '../cluster/load.js';
import { OLDER, olderCheckout } from './older-checkout.js';

/** Load before, between and after the replacements. */
const LOAD_MS = 2_000;
/** What a load balancer gives an instance to end what it has begun. */
const DRAIN_MS = 3_000;
const USER = 'upgrade';

const folder = mkdtempSync(join(tmpdir(), 'latchkey-upgrade-'));
// PostgreSQL refuses root and has an account of its own, which has to get there.
chmodSync(folder, 0o711);
const checks = new Checks();
const older = await olderCheckout();
const postgres = await startPostgres({
  ...{ folder: join(folder, 'postgres'), programs: findInstalledPrograms(), account: postgresAccount(), user: USER },
  ...{ settings: { max_connections: '100' }, isDurable: true },
});
const ports = [await freePort(), await freePort()];
const instances = ports.map((port) => ({ base: `http://127.0.0.1:${port}/`, port, service: undefined }));
/** Where the load balancer sends requests. */
const bases = [];
try {
  for (const instance of instances) await start(instance, older);
  const first = programOf(instances[0], older);
  await first.run(['manage', 'register-user', '--yes', '--password-file', '-', USERNAME], PASSWORD);
  const load = new Load(bases);
  await load.prepare();
  load.start();
  await pause(LOAD_MS);
  await replaceAll(load, 'are replaced by this version, which migrates the database', root);
  await replaceAll(load, 'are put back to the older version', older);
  await replaceAll(load, 'are replaced again', root);
  await load.stop();
  await checks.that(
    'every token that was issued is live, every one that was revoked is not, no session ended',
    async () => {
      const compared = await load.compare();
      requireNone(load.faults);
      say(`${compared} acknowledged facts hold; requests: ${JSON.stringify(load.counts)}`);
    },
  );
} finally {
  for (const { service } of instances) if (service !== undefined) await stopProcess(service);
  await postgres.remove();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = checks.close();

async function replaceAll(load, what, checkout) {
  await checks.that(`from ${OLDER}: the instances ${what}, one after the other, and no request fails`, async () => {
    for (const instance of instances) {
      bases.splice(bases.indexOf(instance.base), 1);
      await pause(DRAIN_MS);
      const code = await stopProcess(instance.service);
      if (code !== 0) throw new Error(`an instance ended with ${code}`);
      await start(instance, checkout);
      await pause(LOAD_MS);
    }
    requireNone(load.faults.splice(0));
    const { acknowledged, signIns, ...failed } = load.counts;
    if (Object.values(failed).some((count) => count > 0)) throw new Error(JSON.stringify(failed));
    if (signIns === 0) throw new Error('nobody signed in');
    say(`${acknowledged} requests and ${signIns} sign-ins so far, none failed`);
  });
}

async function start(instance, checkout) {
  instance.service = await programOf(instance, checkout).serve(instance.base);
  bases.push(instance.base);
}

/** Only settings that the older version knows too. */
function programOf({ port }, checkout) {
  const plenty = { burst: 10_000, per_second: 10_000 };
  const settings = {
    data_dir: join(folder, 'data'),
    database: { socket: postgres.host, port: postgres.port, username: USER, database: 'postgres' },
    http: {
      // The older version is asked with the address that the pages of each instance have.
      public_base: `http://127.0.0.1:${port}/`,
      listeners: [
        { resources: ['discovery', 'human', 'oauth', 'assets', 'health'], binds: [{ address: `127.0.0.1:${port}` }] },
      ],
    },
    secrets: { encryption: 'c'.repeat(64) },
    clients: [
      {
        ...{ client_id: CLIENT_ID, client_auth_method: 'client_secret_basic', client_secret: CLIENT_SECRET },
        ...{ redirect_uris: [CALLBACK], first_party: true },
      },
    ],
    rate_limiting: { login: { per_ip: plenty, per_account: plenty, per_known_browser: plenty } },
    // Far above what the test takes, so that no token ends by itself.
    experimental: { access_token_ttl: 86_400 },
    oauth: { refresh_grace: 0 },
    logging: { level: 'error' },
  };
  return new Program(folder, settings, { name: `instance-${port}.json`, checkout });
}

function requireNone(faults) {
  if (faults.length > 0) throw new Error(`${faults.length} faults:\n${[...new Set(faults)].slice(0, 5).join('\n')}`);
}
