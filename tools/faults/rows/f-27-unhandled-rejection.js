import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { say } from '../../browser/checks.js';
import { databaseSettings, Instances, requireNone, startDatabase } from '../instances.js';

/** A process in an undefined state completes its requests within ten seconds. */
const MAX_END_MS = 20_000;

const KINDS = ['rejection', 'exception'];
const MESSAGE = 'a defect that nobody caught';

/** A request header triggers the failure while the request is served. */
const HOOK = `
import { Server } from 'node:http';
const { emit } = Server.prototype;
Server.prototype.emit = function (event, request, ...rest) {
  const kind = event === 'request' ? request.headers['x-defect'] : undefined;
  if (kind === 'rejection') Promise.reject(new Error('${MESSAGE}'));
  if (kind === 'exception') setImmediate(() => { throw new Error('${MESSAGE}'); });
  return emit.call(this, event, request, ...rest);
};`;

export const fault = {
  id: 'F-27',
  title: 'an exception or rejection that nobody catches, while a request is served',
  async run({ checks, folder, isShort }) {
    const rounds = isShort ? KINDS.length : 10;
    const hook = join(folder, 'defect.mjs');
    writeFileSync(hook, HOOK);
    const database = await startDatabase(folder);
    const instances = new Instances(folder);
    try {
      for (let count = 0; count < 2; count += 1) {
        await instances.add(databaseSettings(database), { flags: [`--import=${hook}`] });
      }
      const load = await instances.load();
      load.start();
      await load.untilAtWork();
      for (let round = 0; round < rounds; round += 1) {
        const kind = KINDS[round % KINDS.length];
        const instance = instances.all[round % instances.all.length];
        await checks.that(
          `F-27: round ${round + 1} (${kind}): it is logged once, and the process ends with 1`,
          async () => {
            instance.log = '';
            const ended = new Promise((resolve) => instance.service.once('exit', resolve));
            const answer = await fetch(`${instance.base}login`, { headers: { 'x-defect': kind } });
            instances.leave(instance);
            if (answer.status !== 200) throw new Error(`the request was answered ${answer.status}`);
            const code = await Promise.race([ended, pause(MAX_END_MS, 'nothing')]);
            const lines = instance.log.split('\n').filter((line) => line.includes(` ERROR error ${MESSAGE}`)).length;
            if (code !== 1 || lines !== 1)
              throw new Error(`it ended with ${code}, and told ${lines} times: ${instance.log}`);
          },
        );
        await instances.start(instance);
      }
      await load.stop();
      await checks.that('F-27: nothing acknowledged is lost, and nothing is half done', async () => {
        const compared = await load.compare();
        say(`${compared} facts hold; requests: ${JSON.stringify(load.counts)}`);
        requireNone(load.faults);
      });
    } finally {
      await instances.stop();
      await database.remove();
    }
  },
};
