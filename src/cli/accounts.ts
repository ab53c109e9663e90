import type { Readable } from 'node:stream';
import { type Foundation, openFoundation } from '#app/service/foundation.ts';
import { openHasher, strengthWorkerUrl } from '#app/service/password-hashing.ts';
import { adminAreaAddress } from '#config/sections/admin-area.ts';
import { findAccount, parseAccountReference } from '#domain/accounts/account-reference.ts';
import { LeakedPasswords } from '#domain/accounts/passwords/leaked-passwords.ts';
import { type PasswordRules, passwordRulesOf } from '#domain/accounts/passwords/password-rules.ts';
import { StrengthEstimator } from '#domain/accounts/passwords/strength-estimator.ts';
import type { Homeserver } from '#domain/homeserver/homeserver.ts';
import { openHomeserver } from '#domain/homeserver/open-homeserver.ts';
import { LivePolicy } from '#domain/policy/live-policy.ts';
import { ModuleRules } from '#domain/policy/module/module-rules.ts';
import type { User } from '#domain/records/user.ts';
import { type Clock, systemClock } from '#platform/base/clock.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import type { Log } from '#platform/base/log.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import type { PasswordHasher } from '#platform/password-hash/password-hasher.ts';
import type { Database } from '#platform/postgres/database.ts';
import { ScopeRules } from '#protocol/oauth/scopes.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';
import { openPrompts, type Prompts } from './prompts.ts';

/** Dependencies of commands that create or change accounts. */
export interface AccountDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly keyRing: KeyRing;
  readonly hasher: PasswordHasher;
  readonly rules: PasswordRules;
  readonly homeserver: Homeserver;
  /** URL of the admin area; undefined if it is not served. */
  readonly adminArea: string | undefined;
  /** `http.public_base`. */
  readonly publicBase: string;
  /** `http.issuer`. */
  readonly issuer: string;
  /** Server name in `@name:server` identifiers. */
  readonly serverName: string;
  readonly serviceName: string;
  /** Default language of accounts: `i18n.default_language`. */
  readonly defaultLanguage: string;
  /** Whether users are notified by mail of changes to their account. */
  readonly sendsNotices: boolean;
  readonly scopeRules: ScopeRules;
  /** Usernames that may request admin scopes regardless of their account: `admin_users` of the policy data. */
  readonly listedAdmins: readonly string[];
}

export interface ManageDeps extends AccountDeps {
  readonly io: ManageIo;
}

export interface ManageIo {
  /** Input of `--password-file -`. */
  readonly stdin: Readable;
  /** Present if standard input is a terminal. */
  readonly prompts: Prompts | undefined;
  /** Results. */
  stdout(text: string): void;
  /** Warnings. */
  stderr(text: string): void;
}

/** Caller of the hash queue, separate from those of requests. */
export const COMMAND_CALLER = { address: 'command-line' };

/** Dependencies for creating accounts in commands and at startup. Close the estimator when done. */
export function accountDeps(foundation: Foundation, version: string): AccountDeps & { readonly policy: LivePolicy } {
  const { config, database, keyRing, loaded, openLog, policyModule: module } = foundation;
  const { log } = openLog;
  const policy = new LivePolicy({ configured: config.policy.data, database, log });
  return {
    policy,
    database,
    keyRing,
    clock: systemClock,
    log: openLog.log,
    hasher: openHasher(config, openLog.log, loaded.environment),
    rules: passwordRulesOf(config.passwords, {
      estimator: new StrengthEstimator(strengthWorkerUrl()),
      moduleRules: new ModuleRules({ module, policy, log }),
      leakedPasswords: new LeakedPasswords({
        ...{ isAsked: config.passwords.hasBreachCheck, clock: systemClock, log },
        outbound: new OutboundHttp({ ...config.outbound, clock: systemClock, log }),
      }),
    }),
    homeserver: openHomeserver({ config, clock: systemClock, log: openLog.log, version }),
    serverName: config.homeserver.homeserver,
    serviceName: config.branding.serviceName,
    defaultLanguage: config.i18n.defaultLanguage,
    sendsNotices: config.email.securityNotices,
    adminArea: adminAreaAddress(config),
    publicBase: config.http.publicBase,
    issuer: config.http.issuer,
    scopeRules: new ScopeRules(
      config.protocolName,
      config.oauth.resources.flatMap(({ scopes }) => scopes),
    ),
    listedAdmins: config.policy.data.adminUsers,
  };
}

/** Opens the service's data for a command that creates or changes accounts, and closes it afterwards. */
export async function withAccounts(
  options: CommandOptions,
  io: CommandIo,
  work: (deps: ManageDeps) => Promise<void>,
): Promise<void> {
  const foundation = await openFoundation({ ...options, isQuiet: true }, io, {
    shouldMigrate: true,
    needsSigningKeys: false,
  });
  const accounts = accountDeps(foundation, io.version);
  try {
    const prompts = io.isTerminal ? await openPrompts(io.stdin, io.terminal) : undefined;
    await accounts.policy.refresh();
    const listedAdmins = accounts.policy.data.adminUsers;
    const deps = { ...accounts, listedAdmins, io: { stdin: io.stdin, prompts, stdout: io.stdout, stderr: io.stderr } };
    await io.signals.race(work(deps));
  } finally {
    await accounts.rules.estimator.close();
    await foundation.close();
  }
}

/** Finds the account that the operator named. Throws `ExitError` 1 if there is none. */
export async function findManagedUser({ database, serverName }: AccountDeps, reference: string): Promise<User> {
  const user = await findAccount(database, parseAccountReference(reference, serverName));
  if (user === undefined) throw new ExitError(ExitCode.failure, 'user not found');
  return user;
}
