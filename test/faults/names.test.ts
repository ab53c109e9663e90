/**
 * Names that do not resolve, or to other addresses (security F-20). The program has a resolver setting of its own: a file
 * bound over `/etc/resolv.conf` in a mount namespace, which only root may make.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Cable } from '../support/cable.js';
import { parseConnectionUri } from '../support/connection-uri.ts';
import { createTestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.js';
import { NameServer } from '../support/name-server.ts';
import { Program, stopProcess } from '../support/program.js';

const CLIENT_ID = '01JD3Q5Z8W2N4K6M7P9R0S1T2V';
const AUTHORIZATION = `Basic ${Buffer.from(`${CLIENT_ID}:a-secret-of-at-least-16-characters`).toString('base64')}`;
const NAME_SERVER = '127.0.0.53';
const [FIRST, SECOND] = ['127.0.0.2', '127.0.0.3'];
const HEALED = { timeout: 60_000, interval: 100 };

function mayMount(): boolean {
  try {
    execFileSync('unshare', ['-m', 'true'], { stdio: 'ignore' });
    return process.getuid?.() === 0;
  } catch {
    return false;
  }
}

test.runIf(mayMount())(
  'F-20: the name of the database changes its address, is unknown, and gets no answer: 503, and service within a minute of its return',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'latchkey-names-'));
    chmodSync(folder, 0o711);
    const db = await createTestDatabase();
    const names = new NameServer();
    await names.listen(NAME_SERVER);
    const {
      host = '127.0.0.1',
      port: databasePort = 5432,
      user,
      password,
      database,
    } = parseConnectionUri(db.connectionString);
    const [cablePort, port] = [await freePort(), await freePort()];
    let cable = new Cable({ host, port: databasePort });
    const moveTo = async (address: string): Promise<void> => {
      cable.close();
      cable = new Cable({ host, port: databasePort });
      await cable.listen(cablePort, address);
    };
    await moveTo(FIRST);
    names.answer = FIRST;
    writeFileSync(join(folder, 'resolv.conf'), `nameserver ${NAME_SERVER}\n`);
    const node = join(folder, 'node');
    const mount = `mount --bind '${folder}/resolv.conf' /etc/resolv.conf && exec "$@"`;
    writeFileSync(
      node,
      `#!/bin/sh\nexec unshare -m sh -c '${mount.replaceAll("'", `'\\''`)}' sh '${process.execPath}' "$@"\n`,
    );
    chmodSync(node, 0o755);
    const base = `http://127.0.0.1:${port}/`;
    const account = [user, password].filter((part) => part !== undefined).map(encodeURIComponent);
    const program = new Program(folder, {
      data_dir: join(folder, 'data'),
      database: { uri: `postgresql://${account.join(':')}@db.example.test:${cablePort}/${database}?sslmode=disable` },
      http: {
        public_base: base,
        listeners: [{ resources: ['discovery', 'oauth', 'health'], binds: [{ address: `127.0.0.1:${port}` }] }],
      },
      clients: [
        {
          client_id: CLIENT_ID,
          client_auth_method: 'client_secret_basic',
          client_secret: 'a-secret-of-at-least-16-characters',
        },
      ],
      logging: { level: 'error' },
    });
    const tokenStatus = async (): Promise<number> => {
      const headers = { authorization: AUTHORIZATION, connection: 'close' };
      const body = new URLSearchParams({ grant_type: 'client_credentials' });
      const response = await fetch(`${base}oauth2/token`, { method: 'POST', headers, body });
      await response.arrayBuffer();
      return response.status;
    };
    const service = await program.serve(base, { node });
    try {
      expect(await tokenStatus()).toBe(200);
      names.answer = SECOND;
      await moveTo(SECOND);
      await expect.poll(tokenStatus, HEALED).toBe(200);
      for (const [failure, next] of [
        ['nxdomain', FIRST],
        ['silent', SECOND],
      ] as const) {
        names.answer = failure;
        await moveTo(next);
        expect(await tokenStatus(), failure).toBe(503);
        expect((await fetch(`${base}.well-known/openid-configuration`)).status).toBe(200);
        expect((await fetch(`${base}oauth2/keys.json`)).status).toBe(200);
        names.answer = next;
        await expect.poll(tokenStatus, HEALED).toBe(200);
      }
    } finally {
      await stopProcess(service);
      names.close();
      cable.close();
      await db.drop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
  180_000,
);
