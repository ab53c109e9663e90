import { sweeps } from '#app/sweeps.ts';
import { loadConfig } from '#config/load.ts';
import { type CleanUpDeps, sweepQueue } from '#domain/clean-up/clean-up.ts';
import { silentLog } from './silent-log.ts';

/** Deletes everything whose time is over, with the default retention. */
export async function cleanUpAll(deps: Pick<CleanUpDeps, 'clock' | 'database'>): Promise<void> {
  const { retention } = loadConfig({ files: [], environment: {}, flags: {}, workingDirectory: '/nowhere' }).config;
  const complete = { ...deps, retention, log: silentLog, isBusy: () => false, pause: async () => {} };
  const { signal } = new AbortController();
  for (const sweep of sweeps) await sweepQueue(sweep, complete).run({ payload: {}, attempt: 1, signal });
}
