/** Security 4.3: invented client IDs. If one of these fails, an attacker fills the database or the memory. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { newId } from '#platform/base/ids.ts';
import { createTestDatabase } from '../support/database.ts';
import { sql } from '../support/fixtures.ts';
import { basic, startOAuthService } from '../support/oauth-service.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';
import { silentLog } from '../support/silent-log.ts';

const CONNECTIONS = 16;
const PIPELINED = 8;

const db = await sharedByTests(createTestDatabase());
const service = await sharedByTests(
  startOAuthService(db.database, { log: silentLog, limiter: { burst: 20, perSecond: 1 / 3 } }),
);

test('30,000 random client ids at the token, introspection and revocation endpoints leave no trace (S-179)', async () => {
  const valid = await service.client();
  await ask(5_000);
  const before = { stored: await storedBytes(), heap: heapBytes() };
  await ask(25_000);
  const growth = { stored: (await storedBytes()) - before.stored, heap: heapBytes() - before.heap };
  expect(growth.stored).toBeLessThan(32_000);
  expect(growth.heap).toBeLessThan(2_000_000);
  const buckets = await sql<{ key: string }>(db.database, 'select key from rate_limits');
  expect(buckets.map(({ key }) => key)).toEqual(['client_authentication:unknown:127.0.0.1']);
  const form = { grant_type: 'client_credentials' };
  const response = await service.post('/oauth2/token', form, basic(valid, 'the secret of the client'));
  expect(response.status).toBe(200);
}, 300_000);

/** Sends requests with distinct client IDs, every other one with a secret. */
async function ask(count: number): Promise<void> {
  let requested = 0;
  const next = (): string => {
    const path = ['/oauth2/token', '/oauth2/introspect', '/oauth2/revoke'][requested % 3] ?? '';
    const id = newId<'client'>(requested);
    const secret = requested % 2 === 0 ? '&client_secret=a-secret-that-is-long-enough' : '';
    const body = `grant_type=client_credentials&token=x&client_id=${id}${secret}`;
    requested += 1;
    return `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  };
  const work = async (): Promise<void> => {
    const { hostname, port } = new URL(service.address);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    while (requested < count) {
      const requests = Array.from({ length: PIPELINED }, next);
      for (const status of await responses(socket, requests)) expect(['401', '429']).toContain(status);
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
}

async function responses(socket: Socket, requests: readonly string[]): Promise<string[]> {
  let received = '';
  return await new Promise((resolve) => {
    const receive = (chunk: Buffer): void => {
      received += chunk.toString('latin1');
      const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status = '']) => status);
      // Each response ends with a JSON object.
      if (statuses.length < requests.length || !received.endsWith('}')) return;
      socket.off('data', receive);
      resolve(statuses);
    };
    socket.on('data', receive);
    socket.write(requests.join(''));
  });
}

async function storedBytes(): Promise<number> {
  const [row] = await sql<{ bytes: number }>(
    db.database,
    `select sum(pg_total_relation_size(oid))::float8 as bytes from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  );
  return row?.bytes ?? 0;
}

function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
  return process.memoryUsage().heapUsed;
}
