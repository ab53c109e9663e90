import { setTimeout as pause } from 'node:timers/promises';
import { say } from '../../browser/checks.js';
import { databaseSettings, Instances, requireRight, startDatabase } from '../instances.js';

/** Methods of the server: a fast and an immediate shutdown, and a kill -9 of all its processes. */
const ENDS = ['stop', 'quit', 'kill'];
/** Long enough to affect requests. */
const DOWN_MS = 1_000;

export const fault = {
  id: 'F-06',
  title: 'restart of the database',
  async run({ checks, folder, isShort }) {
    const rounds = isShort ? ENDS.length : 9;
    const intervalMs = isShort ? 2_000 : 20_000;
    // A busy machine needs longer, which the short form allows for.
    const recoveryMs = isShort ? 15_000 : 5_000;
    const database = await startDatabase(folder);
    const instances = new Instances(folder);
    try {
      for (let count = 0; count < 2; count += 1) await instances.add(databaseSettings(database));
      const load = await instances.load();
      load.start();
      await load.untilAtWork();
      let longestMs = 0;
      for (let round = 0; round < rounds; round += 1) {
        const end = ENDS[round % ENDS.length];
        await pause(intervalMs);
        await checks.that(`F-06: round ${round + 1} (${end}): all is well within ${recoveryMs / 1000} s`, async () => {
          await database[end]();
          await pause(DOWN_MS);
          await database.start();
          longestMs = Math.max(longestMs, await load.untilUndisturbed(recoveryMs));
        });
      }
      await load.stop();
      await checks.that(
        'F-06: answers are right or 503, nothing acknowledged is lost, nothing is half done',
        async () => {
          say(`${rounds} restarts: healed after ${Math.round(longestMs)} ms at most`);
          await requireRight(instances, load);
        },
      );
    } finally {
      await instances.stop();
      await database.remove();
    }
  },
};
