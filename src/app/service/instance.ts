/** Common part of `serve` and `worker`: prepares the instance before it serves or starts other processes that do. */
import type { Config } from '#config/config.ts';
import { systemClock } from '#platform/base/clock.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { certificateWarnings } from './certificate-warnings.ts';
import { openFoundation } from './foundation.ts';
import type { InstancePlan } from './instance-plan.ts';
import type { ConfigurationOptions, ProcessContext } from './process-context.ts';
import { ServiceManager } from './service-manager.ts';
import { warnOfMissingAlgorithms, warnOfUnsignableTokens } from './start-checks.ts';
import { syncDeps } from './sync-deps.ts';

/** @returns the exit code: 0 after a clean shutdown, 1 after a forced one */
export async function runInstance(
  options: ConfigurationOptions,
  context: ProcessContext,
  plan: InstancePlan,
): Promise<number> {
  const foundation = await openFoundation(options, context, { ...plan.wants, needsSigningKeys: true });
  const { log } = foundation.openLog;
  const manager = new ServiceManager(context.environment, log);
  try {
    const { loaded, signingKeys } = foundation;
    if (signingKeys === undefined) throw new Error('the signing keys have not been read');
    const listeners = plan.listeners?.(loaded.environment, foundation.config);
    const adapt = (config: Config): Config =>
      listeners === undefined ? config : { ...config, http: { ...config.http, listeners } };
    const config = adapt(foundation.config);
    plan.check?.(config);
    await plan.makeFirstAccounts?.(foundation);
    await plan.sync?.(syncDeps(foundation), config);
    if (!plan.isMember) {
      warnOfMissingAlgorithms(config.clients, signingKeys, log);
      warnOfUnsignableTokens(config.oauth.resources, signingKeys, log);
      const warnings = certificateWarnings(config.http.listeners, systemClock.now());
      for (const warning of warnings) log.warn('startup', warning);
    }
    const prepareReload = async (next: Config, keyRing: KeyRing): Promise<void> => {
      plan.check?.(next);
      await plan.sync?.(syncDeps({ ...foundation, config: next, keyRing }), next);
    };
    const prepared = { plan, context, foundation, config, signingKeys, manager, adapt, prepareReload };
    // Imported on demand: each is useless where the other is used, and the service takes 50 MiB to load.
    if (plan.mayHaveMembers && config.http.workers > 1) {
      const { supervise } = await import('./primary.ts');
      return await supervise(prepared);
    }
    const { runService } = await import('./run-service.ts');
    return await runService(prepared);
  } finally {
    manager.close();
    await foundation.close();
  }
}
