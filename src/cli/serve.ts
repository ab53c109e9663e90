/** `latchkey serve`: starts in the order of operations 3.2, then serves until a signal (operations 8.5). */

import { logStartup } from '#app/service/banner.ts';
import type { Foundation } from '#app/service/foundation.ts';
import { runInstance } from '#app/service/instance.ts';
import { MEMBER_VARIABLE, type Report } from '#app/service/member-messages.ts';
import { hashesAtOnce } from '#app/service/password-hashing.ts';
import { requireMemoryForHashes, warnOfLittleMemory, warnOfMissingAdmins } from '#app/service/start-checks.ts';
import { syncConfiguration } from '#app/sync-configuration.ts';
import { syncBuiltinClient } from '#domain/clients/builtin-clients.ts';
import { openHomeserver } from '#domain/homeserver/open-homeserver.ts';
import { markFreshStart, requireImportedUsers } from '#domain/import/unimported-users.ts';
import { LivePolicy } from '#domain/policy/live-policy.ts';
import { systemClock } from '#platform/base/clock.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { Secret } from '#platform/base/secret.ts';
import { accountDeps } from './accounts.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';
import { ensureFirstAdmin, type RequestedAdmin, readFirstAdmin } from './first-admin.ts';
import { ownCommand } from './own-command.ts';

export interface ServeOptions {
  readonly migrate: boolean;
  readonly sync: boolean;
  /** Whether this process also runs background work. */
  readonly worker: boolean;
  /** Start without accounts even if the homeserver has users. */
  readonly fresh: boolean;
  /** Seconds. */
  readonly migrateTimeout?: number;
}

/** @returns the exit code: 0 after a clean shutdown, even during startup, 1 after a forced one */
export async function serve(options: CommandOptions, command: ServeOptions, io: CommandIo): Promise<number> {
  try {
    return await run(options, command, io);
  } catch (error) {
    if (io.signals.isRequested && error instanceof ExitError) return ExitCode.ok;
    throw error;
  }
}

function run(options: CommandOptions, command: ServeOptions, io: CommandIo): Promise<number> {
  const slot = io.environment[MEMBER_VARIABLE];
  // Without a parent process to report to, the variable is a leftover.
  if (slot !== undefined && process.send !== undefined) return runMember(slot, options, command, io);
  return runInstance(options, io, {
    wants: {
      shouldMigrate: command.migrate,
      migrateTimeoutSeconds: command.migrateTimeout,
      hasJobs: command.worker,
    },
    hasWorkers: command.worker,
    mayHaveMembers: true,
    isMember: false,
    check: (config) =>
      requireMemoryForHashes(
        config,
        config.http.workers * hashesAtOnce(config, io.environment),
        process.constrainedMemory(),
      ),
    makeFirstAccounts: async (foundation) => {
      const admin = await readFirstAdmin(foundation.loaded.environment);
      await requireImport(foundation, admin, { isFresh: command.fresh, version: io.version });
      await makeFirstAdmin(foundation, admin, io.version);
    },
    sync: async (deps, config) => {
      if (command.sync) await syncConfiguration(deps, config);
      await syncBuiltinClient(deps, config);
    },
    announce: async (foundation, bound) => {
      const { config, database, openLog } = foundation;
      const { log } = openLog;
      const adminCommand = ownCommand(['manage', 'register-user', '--admin'], options, io.workingDirectory);
      const registerCommand = ownCommand(['manage', 'register-user'], options, io.workingDirectory);
      warnOfLittleMemory(config.http.workers, process.constrainedMemory(), log);
      const policy = new LivePolicy({ configured: config.policy.data, database, log });
      await policy.refresh();
      await warnOfMissingAdmins(database, policy.data.adminUsers, log, registerCommand);
      await logStartup({ foundation, bound, version: io.version, adminCommand });
    },
  });
}

/** Runs one of several serving processes. The first process has migrated and synced clients, and reports for all. */
function runMember(slot: string, options: CommandOptions, { worker }: ServeOptions, io: CommandIo): Promise<number> {
  const report = (message: Report): void => {
    process.send?.(message);
  };
  const hasWorkers = worker && slot === '1';
  return runInstance(options, io, {
    wants: { shouldMigrate: false, hasJobs: hasWorkers },
    hasWorkers,
    mayHaveMembers: false,
    isMember: true,
    announce: async (_foundation, bound) => report({ kind: 'ready', bound }),
    reloaded: (isDone) => report({ kind: isDone ? 'reloaded' : 'failed' }),
  });
}

/** Prevents a start that would make an import impossible. */
async function requireImport(
  { config, database, openLog }: Foundation,
  admin: RequestedAdmin | undefined,
  { isFresh, version }: { readonly isFresh: boolean; readonly version: string },
): Promise<void> {
  if (isFresh) return await markFreshStart(database, systemClock.now());
  const homeserver = openHomeserver({ config, clock: systemClock, log: openLog.log, version });
  const listed = config.policy.data.adminUsers;
  await requireImportedUsers({ database, homeserver }, admin === undefined ? listed : [admin.username, ...listed]);
}

async function makeFirstAdmin(
  foundation: Foundation,
  admin: RequestedAdmin | undefined,
  version: string,
): Promise<void> {
  if (admin === undefined) return;
  const accounts = accountDeps(foundation, version);
  try {
    await ensureFirstAdmin(accounts, foundation.openLog.log, {
      username: admin.username,
      password: new Secret(admin.password),
    });
  } finally {
    await accounts.rules.estimator.close();
  }
}
