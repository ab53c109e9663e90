import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const OWN_GROUPS = '/proc/self/cgroup';
const MOUNT = '/sys/fs/cgroup';

/** Resources available to the service. */
export interface Machine {
  readonly processors: number;
  /** In bytes, as returned by `process.constrainedMemory()`: 0, undefined or a huge number when there is no limit. */
  readonly memoryLimit: number | undefined;
}

export function thisMachine(): Machine {
  return { processors: usableProcessors(), memoryLimit: process.constrainedMemory() };
}

/**
 * Returns how many processors this process can use: those of its affinity, or fewer if a container or service manager
 * limits its processor time. Half a processor that is left over is not counted. At least 1.
 * @param read returns the content of a file, or undefined if it does not exist
 */
export function usableProcessors(processors = availableParallelism(), read = readIfPresent): number {
  return Math.max(1, Math.floor(Math.min(processors, timeQuota(read))));
}

/** Processor time per time of the strictest control group; infinite without a limit. */
function timeQuota(read: (path: string) => string | undefined): number {
  const quotas = [Number.POSITIVE_INFINITY];
  for (const line of (read(OWN_GROUPS) ?? '').split('\n')) {
    // `hierarchy:controllers:path`; version 2 of control groups has one hierarchy, without names of controllers.
    const [, controllers = '', ...path] = line.split(':');
    const isVersion2 = line.startsWith('0::');
    if (!isVersion2 && !controllers.split(',').includes('cpu')) continue;
    for (const group of withParents(path.join(':'))) {
      const quota = isVersion2 ? quotaOfVersion2(read, group) : quotaOfVersion1(read, group);
      if (quota !== undefined) quotas.push(quota);
    }
  }
  return Math.min(...quotas);
}

/** In a container the path is the one outside, and the mounted root is the container's group. */
function* withParents(path: string): Iterable<string> {
  for (let group = path.replace(/\/+$/, ''); group !== ''; group = group.slice(0, group.lastIndexOf('/'))) yield group;
  yield '';
}

/** `cpu.max`: quota and period in microseconds, `max` for none. */
function quotaOfVersion2(read: (path: string) => string | undefined, group: string): number | undefined {
  const [quota, period] = (read(`${MOUNT}${group}/cpu.max`) ?? '').trim().split(' ').map(Number);
  return ratio(quota, period);
}

/** A quota of -1 means none. */
function quotaOfVersion1(read: (path: string) => string | undefined, group: string): number | undefined {
  const [quota, period] = ['quota', 'period'].map((name) => Number(read(`${MOUNT}/cpu${group}/cpu.cfs_${name}_us`)));
  return ratio(quota, period);
}

function ratio(quota: number | undefined, period: number | undefined): number | undefined {
  const found = Number(quota) / Number(period);
  return Number.isFinite(found) && found > 0 ? found : undefined;
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}
