/** Resource usage of measured processes and their children. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** Returns the processor time of a process and its descendants, including ended children, in seconds. */
export function cpuSeconds(pid) {
  const stats = readStats();
  const rootStat = stats.get(pid);
  if (rootStat === undefined) return 0;
  let seconds = rootStat.endedChildrenTicks / ticksPerSecond;
  for (const [member, stat] of treeOf(pid, stats)) seconds += threadSeconds(member) ?? stat.ticks / ticksPerSecond;
  return seconds;
}

/**
 * Returns the processor time of a process's threads. The scheduler's figures are exact; those of `stat` are rounded to
 * 10 ms, which is a tenth of what some hundred requests take. Undefined if the kernel does not publish them.
 */
function threadSeconds(pid) {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const nanoseconds = threads.map((thread) =>
      Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ', 1)[0]),
    );
    return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e9;
  } catch {
    return undefined;
  }
}

/** Returns the IDs of a process and its descendants. */
export function membersOf(pid) {
  return [...treeOf(pid, readStats())].map(([member]) => member);
}

/** Returns the resident memory of this process alone, in MB. */
export function ownResidentMb(pid) {
  return megabytes(pid, 'status', /VmRSS:\s+(\d+)/);
}

/** Returns the proportional memory of this process alone (PSS), in MB. */
export function proportionalMb(pid) {
  return megabytes(pid, 'smaps_rollup', /^Pss:\s+(\d+)/m);
}

/**
 * Kills a child of this process, and its descendants, if it is still running when this process ends.
 * @returns the child
 */
export function killAtExit(child) {
  const kill = () => {
    for (const pid of membersOf(child.pid)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It ended together with its parent.
      }
    }
  };
  process.once('exit', kill);
  child.once('exit', () => process.removeListener('exit', kill));
  return child;
}

function* treeOf(pid, stats) {
  const waiting = [pid];
  while (waiting.length > 0) {
    const member = waiting.pop();
    const stat = stats.get(member);
    if (stat === undefined) continue;
    yield [member, stat];
    for (const [other, { parent }] of stats) if (parent === member) waiting.push(other);
  }
}

function readStats() {
  const stats = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'latin1');
      // The name in parentheses may contain anything; the state is the first field after it.
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      const [parent, ...times] = [1, 11, 12, 13, 14].map((index) => Number(fields[index]));
      stats.set(Number(name), {
        parent,
        ticks: times[0] + times[1],
        endedChildrenTicks: times[2] + times[3],
      });
    } catch {
      // It ended while the directory was read.
    }
  }
  return stats;
}

function megabytes(pid, file, kilobytes) {
  try {
    const found = kilobytes.exec(readFileSync(`/proc/${pid}/${file}`, 'latin1'));
    return Number((Number(found?.[1] ?? 0) / 1024).toFixed(1));
  } catch {
    return 0;
  }
}
