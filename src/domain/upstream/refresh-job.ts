import { DONE, type JobQueue } from '#platform/jobs/queue.ts';
import { type MetadataDeps, refreshMetadata } from './provider-metadata.ts';
import type { UpstreamProvider } from './upstream-providers.ts';

const EVERY_MINUTES = 15;
const TIME_LIMIT_SECONDS = 60;

/** Refreshes the metadata of all providers, so that sign-ins do not have to wait for it (operations 6.3). */
export function refreshMetadataQueue(
  deps: MetadataDeps & { readonly providers: readonly UpstreamProvider[] },
): JobQueue {
  return {
    name: 'refresh-upstream-metadata',
    minuteOfHour: 2,
    everyMinutes: EVERY_MINUTES,
    timeLimitSeconds: TIME_LIMIT_SECONDS,
    run: async ({ signal }) => {
      for (const provider of deps.providers) {
        if (provider.discoveryMode !== 'disabled' && !signal.aborted) await refreshMetadata(deps, provider);
      }
      return DONE;
    },
  };
}
