import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { say } from '../../browser/checks.js';
import { databaseSettings, Instances, requireNone, startDatabase } from '../instances.js';

/** Processing time of the mail server, so that jobs are running at any time. */
const MAIL_MS = 500;
const PROBE_MS = 1_000;
/** The probe covers the last thirty seconds, in windows of five. */
const FORGIVEN_MS = 40_000;

export const fault = {
  id: 'F-28',
  title: 'an event loop that is blocked',
  async run({ checks, folder, isShort }) {
    // The threshold is ten seconds.
    const blockedMs = isShort ? 12_000 : 15_000;
    const hook = join(folder, 'block.mjs');
    writeFileSync(
      hook,
      `process.on('SIGUSR2', () => {
         const end = performance.now() + ${blockedMs};
         while (performance.now() < end);
       });`,
    );
    const database = await startDatabase(folder);
    const instances = new Instances(folder);
    try {
      for (let count = 0; count < 2; count += 1) {
        await instances.add(databaseSettings(database), { flags: [`--import=${hook}`] });
      }
      const load = await instances.load();
      instances.mailboxes.takesMs = MAIL_MS;
      load.start();
      await load.untilAtWork();
      for (const [index, instance] of instances.all.entries()) {
        if (isShort && index > 0) break;
        instance.service.kill('SIGUSR2');
        await pause(PROBE_MS);
        await checks.that('F-28: the live probe is not answered by a blocked instance', async () => {
          const answer = await probe(instance, 'live');
          if (answer !== undefined) throw new Error(`it answered ${answer.status}`);
        });
        // Like a load balancer.
        instances.leave(instance);
        await checks.that('F-28: afterwards the live probe fails, and soon it is ready again', async () => {
          await pause(blockedMs);
          const answer = await until(instance, 'live', (found) => found !== undefined);
          if (answer.text !== 'stalled') throw new Error(`the live probe answered ${answer.status} ${answer.text}`);
          await until(instance, 'ready', (found) => found?.status === 200);
        });
        instances.bases.push(instance.base);
        if (isShort) break;
        await checks.that('F-28: the instance recovers', () =>
          until(instance, 'live', (found) => found?.status === 200),
        );
      }
      await load.stop();
      await checks.that('F-28: nothing acknowledged is lost, and nothing is half done', async () => {
        const compared = await load.compare();
        say(`${compared} facts hold; requests: ${JSON.stringify(load.counts)}`);
        requireNone(load.faults);
      });
      await checks.that('F-28: no job ran twice', () => {
        say(`${instances.mailboxes.taken} mails`);
        requireNone(instances.mailboxes.doubles);
      });
    } finally {
      await instances.stop();
      await database.remove();
    }
  },
};

/** @returns undefined without a response */
async function probe({ base }, name) {
  try {
    const response = await fetch(`${base}health?probe=${name}`, { signal: AbortSignal.timeout(PROBE_MS) });
    return { status: response.status, text: (await response.text()).trim() };
  } catch {
    return undefined;
  }
}

/** Polls until the response is as expected, and returns it. */
async function until(instance, name, isRight) {
  const deadline = performance.now() + FORGIVEN_MS;
  for (;;) {
    const answer = await probe(instance, name);
    if (isRight(answer)) return answer;
    if (performance.now() > deadline) throw new Error(`the probe ${name} is not answered so: ${answer?.text}`);
    await pause(PROBE_MS);
  }
}
