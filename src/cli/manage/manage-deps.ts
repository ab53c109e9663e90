import type { Readable } from 'node:stream';
import type { PasswordRules } from '#domain/accounts/passwords/password-rules.ts';
import type { StrengthEstimator } from '#domain/accounts/passwords/strength-estimator.ts';
import type { Clock } from '#platform/base/clock.ts';
import type { PasswordHasher } from '#platform/password-hash/password-hasher.ts';
import type { Database } from '#platform/postgres/database.ts';
import type { Prompts } from './prompts.ts';

/** What the commands that make or change accounts work with. */
export interface AccountDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly hasher: PasswordHasher;
  readonly estimator: StrengthEstimator;
  readonly rules: PasswordRules;
  /** Of `@name:server` identifiers. */
  readonly serverName: string;
  readonly serviceName: string;
  /** Language of an account when nobody says which: `i18n.default_language`. */
  readonly defaultLanguage: string;
}

export interface ManageDeps extends AccountDeps {
  readonly io: ManageIo;
}

export interface ManageIo {
  /** Where `--password-file -` reads from. */
  readonly stdin: Readable;
  /** Present when standard input is a terminal. */
  readonly prompts: Prompts | undefined;
  /** Results. */
  stdout(text: string): void;
  /** Warnings. */
  stderr(text: string): void;
}

/** Caller of the hash queue; a command waits behind nobody. */
export const COMMAND_CALLER = { address: 'command-line' };
