import type { Config } from '#config/config.ts';
import type { Clock } from '#platform/base/clock.ts';
import { reportFailuresTo } from '#platform/base/failure-reports.ts';
import type { Log } from '#platform/base/log.ts';
import { exchange } from '#platform/outbound-http/exchange.ts';

interface SentryDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
}

const TIMEOUT_MS = 10_000;

/**
 * Reports errors to the configured Sentry project. Imports nothing if there is none.
 * @returns a function that sends the last reports
 */
export async function openSentry(
  config: Config['telemetry']['sentry'],
  deps: SentryDeps,
): Promise<() => Promise<void>> {
  const { project, environment, sampleRate, tracesSampleRate } = config;
  if (project === undefined) return async () => {};
  const { Envelopes } = await import('#platform/sentry/envelopes.ts');
  const { SentryReports } = await import('#platform/sentry/sentry-reports.ts');
  const url = new URL(project.url);
  const { clock, log, version } = deps;
  const auth = `Sentry sentry_version=7, sentry_client=latchkey/${version}, sentry_key=${project.publicKey.reveal()}`;
  const envelopes = new Envelopes({
    ...{ clock, log },
    post: (body, signal) =>
      exchange(url, {
        ...{ server: 'sentry', method: 'POST', body, needsBody: false },
        headers: { 'content-type': 'application/x-sentry-envelope', 'x-sentry-auth': auth },
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
        ...{ lookup: undefined, trustedCertificates: undefined },
      }),
  });
  reportFailuresTo(new SentryReports({ clock, environment, sampleRate, tracesSampleRate, version, envelopes }));
  return () => envelopes.close();
}
