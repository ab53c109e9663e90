import { StrengthEstimator } from '#domain/accounts/passwords/strength-estimator.ts';
import { systemClock } from '#platform/base/clock.ts';
import type { CommandIo, ConfigurationOptions } from '../command-io.ts';
import { type Foundation, openFoundation } from '../foundation.ts';
import { openHasher } from '../open-hasher.ts';
import { strengthWorkerUrl } from '../worker-urls.ts';
import type { AccountDeps, ManageDeps } from './manage-deps.ts';
import { openPrompts } from './prompts.ts';

/** What commands and the start need to make accounts. Close the estimator when done. */
export function accountDeps(foundation: Foundation): AccountDeps {
  const { config, database, loaded, openLog } = foundation;
  return {
    database,
    clock: systemClock,
    hasher: openHasher(config, openLog.log, loaded.environment),
    estimator: new StrengthEstimator(strengthWorkerUrl()),
    rules: config.passwords,
    serverName: config.homeserver.homeserver,
    serviceName: config.branding.serviceName,
    defaultLanguage: config.i18n.defaultLanguage,
  };
}

/** Opens the service's data for a command that makes or changes accounts, and closes it behind. */
export async function withAccounts(
  options: ConfigurationOptions,
  io: CommandIo,
  work: (deps: ManageDeps) => Promise<void>,
): Promise<void> {
  const foundation = await openFoundation({ ...options, isQuiet: true }, io, {
    shouldMigrate: true,
    needsSigningKeys: false,
  });
  const accounts = accountDeps(foundation);
  try {
    const prompts = io.isTerminal ? await openPrompts(io.stdin, io.terminal) : undefined;
    const deps = { ...accounts, io: { stdin: io.stdin, prompts, stdout: io.stdout, stderr: io.stderr } };
    await io.signals.race(work(deps));
  } finally {
    await accounts.estimator.close();
    await foundation.close();
  }
}
