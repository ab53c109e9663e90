import { setTimeout as pause } from 'node:timers/promises';
import { stopProcess } from '../../../test/support/program.js';
import { say } from '../../browser/checks.js';
import { databaseSettings, Instances, requireNone, startDatabase } from '../instances.js';

/** Between two stops. */
const LOAD_MS = 500;

export const fault = {
  id: 'F-05',
  title: 'SIGTERM under load, one instance after the other',
  async run({ checks, folder, isShort }) {
    const rounds = isShort ? 3 : 20;
    const database = await startDatabase(folder);
    const instances = new Instances(folder);
    try {
      for (let count = 0; count < 2; count += 1) await instances.add(databaseSettings(database));
      const load = await instances.load();
      load.start();
      await load.untilAtWork();
      for (let round = 1; round <= rounds; round += 1) {
        const instance = instances.all[round % 2];
        await checks.that(`F-05: round ${round}: the instance ends by itself with 0`, async () => {
          instances.leave(instance);
          const code = await stopProcess(instance.service);
          await instances.start(instance);
          if (code !== 0) throw new Error(`it ended with ${code}`);
        });
        await pause(LOAD_MS);
      }
      await load.stop();
      await checks.that('F-05: no request failed, and everything acknowledged is so', async () => {
        const { acknowledged, signIns, ...failed } = load.counts;
        const compared = await load.compare();
        requireNone(load.faults);
        say(
          `${rounds} rounds: ${acknowledged} requests and ${signIns} sign-ins, of which ${load.retries} were refused by one ` +
            `instance and sent to the other; ${compared} facts hold`,
        );
        if (Object.values(failed).some((count) => count > 0)) throw new Error(JSON.stringify(failed));
        if (signIns === 0) throw new Error('nobody signed in');
      });
    } finally {
      await instances.stop();
      await database.remove();
    }
  },
};
