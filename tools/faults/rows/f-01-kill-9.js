import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { say } from '../../browser/checks.js';
import { databaseSettings, Instances, requireNone, startDatabase } from '../instances.js';

const MAX_LIVED_MS = 2_000;
/** From the start of the process to readiness, on an idle machine. */
const MAX_START_SECONDS = { external: 5, embedded: 10 };

const SETUPS = [
  { count: 1, database: 'embedded', isInShort: true },
  { count: 2, database: 'external', isInShort: true },
  { count: 1, database: 'external' },
  { count: 2, database: 'embedded' },
];

export const fault = {
  id: 'F-01',
  title: 'kill -9 of an instance at random moments',
  async run({ checks, folder, isShort }) {
    for (const setup of SETUPS) {
      if (isShort && setup.isInShort !== true) continue;
      await killAndCompare({ checks, folder, isShort, setup });
    }
  },
};

async function killAndCompare({ checks, folder, isShort, setup }) {
  const kills = isShort ? 5 : 50;
  const name = `F-01: ${setup.count} on the ${setup.database} database`;
  const isEmbedded = setup.database === 'embedded';
  const database = isEmbedded ? undefined : await startDatabase(folder);
  const instances = new Instances(folder);
  try {
    let dataDir;
    // Instances on one embedded database share its folder.
    const change = (settings) => {
      dataDir ??= settings.data_dir;
      return isEmbedded ? { ...settings, data_dir: dataDir } : settings;
    };
    for (let count = 0; count < setup.count; count += 1) {
      await instances.add(database && databaseSettings(database), { change });
    }
    const load = await instances.load();
    load.start();
    await load.untilAtWork();
    const startsMs = [];
    let servedMeanwhile = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      await pause(randomInt(MAX_LIVED_MS));
      const instance = instances.all[randomInt(instances.all.length)];
      await instances.kill(instance);
      const [startedAt, acknowledged] = [performance.now(), load.counts.acknowledged];
      await instances.start(instance);
      startsMs.push(performance.now() - startedAt);
      servedMeanwhile += load.counts.acknowledged - acknowledged;
    }
    await checks.that(`${name}: afterwards nobody is refused`, () => load.untilUndisturbed(5_000));
    await load.stop();
    await checks.that(`${name}: nothing acknowledged is lost, and nothing is half done`, async () => {
      const compared = await load.compare();
      say(
        `${name}: ${kills} kills, ready again after ${Math.round(Math.max(...startsMs))} ms at most; ${compared} facts ` +
          `hold; requests: ${JSON.stringify(load.counts)}`,
      );
      requireNone(load.faults);
    });
    if (setup.count > 1) {
      await checks.that(`${name}: the other one serves on`, () => {
        if (servedMeanwhile === 0) throw new Error('no request was answered while one was gone');
      });
    }
    if (isShort) return;
    await checks.that(`${name}: ready within ${MAX_START_SECONDS[setup.database]} s`, () => {
      requireNone(startsMs.filter((milliseconds) => milliseconds > MAX_START_SECONDS[setup.database] * 1000));
    });
  } finally {
    await instances.stop();
    await database?.remove();
  }
}
