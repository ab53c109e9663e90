/** The stored results of whole runs, for the plot and the tables of `docs/performance.md`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The figures of other concurrencies are only in the page of each run. */
export const CONCURRENCY = 16;

/**
 * Returns the results of whole runs, oldest first. Quick runs are too short for claims, and runs of a few workloads lack
 * the unit of CPU time. The format has grown, so older results lack members.
 * @param {string} root directory of `package.json`
 * @returns {object[]}
 */
export function readWholeRuns(root) {
  const folder = join(root, 'bench/results');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => ({ ...JSON.parse(readFileSync(join(folder, name), 'utf8')), name: name.slice(0, -'.json'.length) }))
    .filter((result) => !result.isQuick && cpuUnit(result) !== undefined)
    .sort((one, other) => (one.measuredAt < other.measuredAt ? -1 : 1));
}

/** Returns the race of a workload at `CONCURRENCY`, if the run has it. */
export function raceOf({ races }, workload) {
  return races?.find((race) => race.workload === workload && race.concurrency === CONCURRENCY);
}

/** Returns the CPU seconds of the bare server for 1,000 look-ups: the unit that makes runs on different machines comparable. */
export function cpuUnit(result) {
  return raceOf(result, 'introspect')?.contestants.bare?.serverCpu;
}

/** Returns the name of the processor without trademark signs. */
export function processorOf({ processor }) {
  return processor.replaceAll(/\(R\)| Processor/g, '');
}

/** Rounds to two significant digits. */
export function short(value) {
  return String(Number(value.toPrecision(2)));
}
