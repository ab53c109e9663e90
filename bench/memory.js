/** Resident memory of one process: idle after its start, and after the first and the last of many requests. */
import { setTimeout as pause } from 'node:timers/promises';
import { AUTHORIZATION, startLatchkey } from './latchkey.js';
import { ownResidentMb } from './processes.js';

const IDLE_MS = 2_000;
const CONCURRENCY = 16;
/** Alternated, so that every part of the process is used. */
const MIX = ['introspect', 'userinfo', 'client-credentials', 'refresh', 'login-page'];

/** @param first,last number of requests after which memory is measured */
export async function measureMemory({ checkout, folder, database, driver, data, first, last, say }) {
  const service = await startLatchkey({ name: 'memory', checkout, folder, database });
  try {
    await pause(IDLE_MS);
    const afterStart = ownResidentMb(service.pid);
    // The last sessions are used only for refreshes, which revoke access tokens that the other requests would present.
    const share = Math.ceil(data.sessions.length / 10);
    const [read, refreshed] = [data.sessions, data.sessionsWithoutOpenid].map((sessions) =>
      sessions.splice(-share).map((session) => ({ ...session, authorization: AUTHORIZATION })),
    );
    for (const workload of MIX) await driver.fillPool(`memory:${workload}`, workload === 'refresh' ? refreshed : read);
    const drive = async (requests) => {
      const count = Math.ceil(requests / MIX.length);
      for (const workload of MIX) {
        await driver.drive({
          workload,
          pool: `memory:${workload}`,
          port: service.port,
          concurrency: CONCURRENCY,
          count,
        });
      }
      await pause(IDLE_MS);
      return ownResidentMb(service.pid);
    };
    const afterFirst = await drive(first);
    const afterLast = await drive(last - first);
    say(`memory: ${afterStart} MB after start, ${afterFirst} after ${first} requests, ${afterLast} after ${last}`);
    return { afterStart, first, afterFirst, last, afterLast };
  } finally {
    await service.stop();
  }
}
