import { setTimeout as pause } from 'node:timers/promises';
import { say } from '../../browser/checks.js';
import { databaseSettings, Instances, requireNone, startDatabase } from '../instances.js';
import { MemoryGroup } from '../memory-group.js';

/** Multiple of an idle service's memory. */
const TIMES_IDLE = 1.2;
const IDLE_MS = 2_000;
/** Restart delay of the service manager. */
const RESTART_MS = 200;
const POLL_MS = 50;
const MIB = 1024 * 1024;

export const fault = {
  id: 'F-13',
  title: `a container with ${TIMES_IDLE} times the memory of an idle service`,
  async run({ checks, folder, isShort }) {
    const group = MemoryGroup.make(folder);
    if (group === undefined) {
      say('F-13 is not tried: no group of processes with a limit of memory can be made here');
      return;
    }
    const database = await startDatabase(folder);
    const instances = new Instances(folder);
    try {
      // Here password hashes need as much memory as by default.
      const scheme = { version: 1, algorithm: 'argon2id', memory_kib: 19_456, iterations: 1 };
      const change = (settings) => ({ ...settings, passwords: { ...settings.passwords, schemes: [scheme] } });
      const [small, other] = [
        await instances.add(databaseSettings(database), { change, node: group.node }),
        await instances.add(databaseSettings(database), { change }),
      ];
      const load = await instances.load();
      await pause(IDLE_MS);
      const idleBytes = group.usedBytes;
      group.limit(Math.round(idleBytes * TIMES_IDLE));
      const manager = new ServiceManager(instances, small);
      load.start();
      await pause(isShort ? 8_000 : 180_000);
      const served = load.counts.acknowledged;
      group.lift();
      await manager.stop();
      const idle = `${Math.round(idleBytes / MIB)} MiB when idle`;
      say(`${idle}; ended ${manager.ends} times for its memory; ${served} requests answered in that time`);
      await checks.that('F-13: with enough memory nobody is refused', () => load.untilUndisturbed(20_000));
      await load.stop();
      await checks.that('F-13: nothing acknowledged is lost, and nothing is half done', async () => {
        const compared = await load.compare();
        say(`${compared} facts hold; requests: ${JSON.stringify(load.counts)}`);
        requireNone(load.faults);
      });
      await checks.that('F-13: the other instance serves on', () => {
        if (served === 0) throw new Error('no request was answered');
        if (!isRunning(other)) throw new Error('it ended');
      });
    } finally {
      await instances.stop();
      await database.remove();
      group.remove();
    }
  },
};

/** Restarts an instance whenever it exits. */
class ServiceManager {
  ends = 0;
  #isOn = true;
  #work;

  constructor(instances, instance) {
    this.#work = this.#keep(instances, instance);
  }

  /** Resolves when the instance runs. */
  async stop() {
    this.#isOn = false;
    await this.#work;
  }

  async #keep(instances, instance) {
    while (this.#isOn || !isRunning(instance)) {
      await pause(POLL_MS);
      if (isRunning(instance)) continue;
      this.ends += 1;
      instances.leave(instance);
      await pause(RESTART_MS);
      // It may exit before it is ready.
      await instances.start(instance).catch(() => undefined);
    }
  }
}

function isRunning({ service }) {
  return service.exitCode === null && service.signalCode === null;
}
