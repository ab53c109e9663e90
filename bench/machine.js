/** Describes the machine of a run, and the load of other processes on it. */
import { execFileSync } from 'node:child_process';
import { readFileSync, statfsSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { root } from '../scripts/steps/places.js';

/** Returns the commit of a checkout, marked if files differ from it; undefined outside version control. */
export function commitOf(folder = root) {
  try {
    const git = (...args) => execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' }).trim();
    const commit = git('rev-parse', '--short=12', 'HEAD');
    return git('status', '--porcelain', '--', 'src', 'migrations') === '' ? commit : `${commit} with changes`;
  } catch {
    return undefined;
  }
}

/** @param dataFolder data directory of the database */
export function describeMachine(dataFolder) {
  return {
    processors: cpus().length,
    processor: cpus()[0]?.model,
    memoryMb: Math.round(totalmem() / 2 ** 20),
    kernel: release(),
    node: process.versions.node,
    fileSystemOfDatabase: fileSystemName(statfsSync(dataFolder).type),
  };
}

export function loadAverage() {
  return Number((loadavg()[0] ?? 0).toFixed(2));
}

/** Returns the processor time that the whole machine has used since boot, in seconds. */
export function machineCpuSeconds() {
  const [user, nice, system, , , irq, softirq] = readFileSync('/proc/stat', 'utf8')
    .split('\n', 1)[0]
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user + nice + system + irq + softirq) / 100;
}

/** Magic numbers of statfs(2) for common file systems of databases. */
function fileSystemName(type) {
  const names = { 61267: 'ext4', 16914836: 'tmpfs', 1481003842: 'xfs', 2435016766: 'btrfs', 2035054128: 'overlay' };
  return names[type] ?? `0x${type.toString(16)}`;
}
