import { setTimeout as pause } from 'node:timers/promises';
import { say } from '../../browser/checks.js';
import { behindLink } from '../behind-link.js';
import { requireRight } from '../instances.js';

const DIRECTIONS = [
  { name: 'what is sent to the database', directions: ['requests'] },
  { name: 'what it answers', directions: ['answers'] },
  { name: 'both ways', directions: ['requests', 'answers'] },
];
const CUTS = { short: [1, 10], long: [1, 10, 60, 300] };
const BETWEEN_MS = { short: 1_000, long: 10_000 };
const RECOVERY_MS = 5_000;
/** `limits.handler_timeout`, plus a margin for a busy machine. */
const MAX_REQUEST_MS = 17_000;

export const fault = {
  id: 'F-08',
  title: 'a network to the database that drops what it is given',
  async run({ checks, folder, isShort }) {
    const form = isShort ? 'short' : 'long';
    const [shortest] = CUTS[form];
    await behindLink(folder, async ({ cable, instances, load }) => {
      for (const { name, directions } of DIRECTIONS) {
        for (const seconds of CUTS[form]) {
          if (isShort && seconds > shortest && directions.length < 2) continue;
          await pause(BETWEEN_MS[form]);
          const before = load.counts.unavailable;
          cable.cut(directions);
          await pause(seconds * 1_000);
          cable.mend();
          const what = `${name}, for ${seconds} s`;
          await checks.that(`F-08: ${what}: ${RECOVERY_MS / 1_000} s later all is well`, async () => {
            const [signedInMs, undisturbedMs] = await Promise.all([
              load.untilSignedIn(RECOVERY_MS),
              load.untilUndisturbed(RECOVERY_MS),
            ]);
            say(
              `${what}: ${load.counts.unavailable - before} refused, the last of them ${Math.round(undisturbedMs)} ms ` +
                `after its end; a sign-in took ${Math.round(signedInMs)} ms`,
            );
          });
        }
      }
      await load.stop();
      await checks.that('F-08: requests were answered in time', () => {
        say(`the slowest request took ${Math.round(load.slowestMs)} ms: ${load.slowest}`);
        if (load.slowestMs > MAX_REQUEST_MS) throw new Error(`one took ${Math.round(load.slowestMs)} ms`);
      });
      await checks.that('F-08: answers were right or 503, and everything acknowledged is so', () =>
        requireRight(instances, load),
      );
    });
  },
};
