import { DONE, type JobQueue } from '#platform/jobs/queue.ts';
import { type CheckProviderDeps, checkProvider } from './check-provider.ts';
import { needsKeys } from './provider-keys.ts';
import type { UpstreamProvider } from './upstream-providers.ts';

const EVERY_MINUTES = 15;
const TIME_LIMIT_SECONDS = 120;

/**
 * Refreshes the metadata of all providers, so that sign-ins do not have to wait for it (operations 6.3), and what
 * administrators see of them (administration 7).
 */
export function refreshMetadataQueue(
  deps: CheckProviderDeps & { readonly providers: readonly UpstreamProvider[] },
): JobQueue {
  return {
    name: 'refresh-upstream-metadata',
    minuteOfHour: 2,
    everyMinutes: EVERY_MINUTES,
    timeLimitSeconds: TIME_LIMIT_SECONDS,
    run: async ({ signal }) => {
      for (const provider of deps.providers) {
        const hasRequests = provider.discoveryMode !== 'disabled' || needsKeys(provider);
        if (hasRequests && !signal.aborted) await checkProvider(deps, provider);
      }
      return DONE;
    },
  };
}
