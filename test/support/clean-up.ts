import { sweeps } from '#app/sweeps.ts';
import { loadConfig } from '#config/load.ts';
import { type CleanUpDeps, sweepQueue } from '#domain/clean-up/clean-up.ts';
import { InstanceState } from '#domain/instance-state.ts';
import { silentLog } from './silent-log.ts';

/** Deletes all expired data. Uses the default retention, with `changes` applied. */
export async function cleanUpAll(
  deps: Pick<CleanUpDeps, 'clock' | 'database'>,
  changes: Partial<CleanUpDeps['rules']> = {},
): Promise<void> {
  const { retention: defaults } = loadConfig({
    files: [],
    environment: {},
    flags: {},
    workingDirectory: '/nowhere',
  }).config;
  const rules = { ...defaults, syncsDevices: false, ...changes };
  const complete = {
    ...deps,
    rules,
    log: silentLog,
    isBusy: () => false,
    pause: async () => {},
    instance: new InstanceState(),
  };
  const { signal } = new AbortController();
  for (const sweep of sweeps) await sweepQueue(sweep, complete).run({ id: '1', payload: {}, attempt: 1, signal });
}
