/**
 * `serve` with several processes (`http.workers`): the first one migrates, syncs clients to the database, handles
 * signals and the service manager, and supervises the others, which serve.
 */
import { systemClock } from '#platform/base/clock.ts';
import { ExitCode } from '#platform/base/errors.ts';
import type { Log } from '#platform/base/log.ts';
import { inheritedDescriptors } from '#platform/http/inherited-sockets.ts';
import { onFatalError } from './fatal-errors.ts';
import type { PreparedInstance } from './instance-plan.ts';
import { Members } from './members.ts';
import { openSentry } from './open-sentry.ts';
import type { ProcessContext } from './process-context.ts';
import { Reload } from './reload.ts';

/** Added to the shutdown time of the serving processes. */
const MARGIN_MS = 20_000;

/** @returns the exit code: 0 if all processes ended cleanly after a signal */
export async function supervise(deps: PreparedInstance): Promise<number> {
  const { context, foundation } = deps;
  const { sentry } = foundation.config.telemetry;
  // The serving processes report their own errors; this covers the first process.
  const reports = { clock: systemClock, log: foundation.openLog.log, version: context.version };
  const closeSentry = await openSentry(sentry, reports);
  try {
    return await superviseMembers(deps);
  } finally {
    await closeSentry();
  }
}

async function superviseMembers(deps: PreparedInstance): Promise<number> {
  const { adapt, context, foundation, manager, plan, prepareReload, signingKeys } = deps;
  const { log } = foundation.openLog;
  const { http } = foundation.config;
  const members = new Members(http.workers, inheritedDescriptors(http), log);
  let current = { config: foundation.config, signingKeys };
  const reload = new Reload({
    foundation,
    service: {
      get signingKeys() {
        return current.signingKeys;
      },
      replace: async (settings, commit) => {
        await commit();
        const failed = await members.reload();
        current = settings;
        return failed;
      },
    },
    manager,
    adapt,
    prepare: prepareReload,
  });
  const stopped = firstSignal(context, members);
  const failed = firstFailure(log);
  const outcome = await Promise.race([members.start(), failed]);
  const graceMs = (): number => {
    const { drainDelaySeconds, shutdownTimeoutSeconds } = current.config.limits;
    return (drainDelaySeconds + shutdownTimeoutSeconds) * 1000 + MARGIN_MS;
  };
  if (typeof outcome !== 'object') {
    // If a signal interrupted the start, the processes already serving shut down normally.
    if (context.signals.isRequested) return (await members.ended(graceMs())) ? ExitCode.ok : ExitCode.failure;
    members.kill();
    await members.ended(0);
    return outcome === 'failure' ? ExitCode.failure : outcome;
  }
  await plan.announce(foundation, outcome);
  context.signals.onHangUp(() => void reload.request());
  manager.ready(() => members.areHealthy);
  const cause = await Promise.race([stopped, failed]);
  log.info('shutdown', cause === 'failure' ? 'stopping after an error' : `${cause} received, stopping`);
  await manager.stopping();
  if (cause === 'failure') members.signal('SIGTERM');
  const isClean = await members.ended(graceMs());
  log.info('shutdown', isClean ? 'stopped' : 'stopped, open connections terminated');
  return isClean && cause !== 'failure' ? ExitCode.ok : ExitCode.failure;
}

/** Every signal is forwarded to the serving processes, which close their connections at the second one. */
function firstSignal(context: Pick<ProcessContext, 'signals'>, members: Members): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    context.signals.listen((signal) => {
      members.signal(signal);
      resolve(signal);
    });
  });
}

function firstFailure(log: Log): Promise<'failure'> {
  return new Promise((resolve) => {
    onFatalError(log, () => resolve('failure'));
  });
}
