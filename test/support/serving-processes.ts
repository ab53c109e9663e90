import { readdirSync, readFileSync } from 'node:fs';

/** Returns the worker processes of a `serve` with several: children of `first` that run this program. */
export function servingProcesses(first: number | undefined): readonly number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8');
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8');
      const isOurs = status.includes(`\nPPid:\t${first}\n`) && command.includes('main.js');
      return isOurs && !/^State:\tZ/m.test(status) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}
