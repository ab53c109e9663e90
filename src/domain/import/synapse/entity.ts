/** An import step for one kind of data, and its progress. */
import type { SynapseImportTarget } from './synapse-target.ts';

/** What a step works with. */
export interface ImportContext {
  readonly target: SynapseImportTarget;
  /** Suffix of every user ID in Synapse: `:example.org`. */
  readonly suffix: string;
  /** Start of the import, in milliseconds since the epoch. */
  readonly now: number;
  /** IDs of configured providers by their names in Synapse. */
  readonly providers: ReadonlyMap<string, string>;
}

/** Why rows were skipped. */
export type SkipReason =
  | 'application service'
  | 'unknown account'
  | 'unusable name'
  /** The name looks like an account ID. */
  | 'identifier name'
  /** The account is imported without its password. */
  | 'unknown password hash'
  /** The address is stored separately and not used. */
  | 'unusable address'
  | 'unknown provider'
  | 'unknown form'
  | 'duplicate';

/** Result of a batch. */
export interface BatchOutcome {
  readonly done: number;
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>;
}

export interface ImportStep<Row extends object> {
  readonly entity: EntityName;
  /** Synapse tables used to estimate the number of rows. */
  readonly tables: readonly string[];
  /** Query on the Synapse database. */
  readonly source: string;
  load(context: ImportContext, rows: readonly Row[]): Promise<BatchOutcome>;
  /** Runs after the last batch. */
  end?(context: ImportContext): Promise<void>;
}

export type EntityName =
  | 'users'
  | 'third-party ids'
  | 'upstream links'
  | 'devices'
  | 'devices of tokens'
  | 'access tokens'
  | 'refresh tokens';

/** Returns the username of a Synapse user ID; undefined if it belongs to another server or has no name. */
export function localpartOf(userId: string | null, suffix: string): string | undefined {
  if (userId?.startsWith('@') !== true || !userId.endsWith(suffix)) return undefined;
  const name = userId.slice(1, -suffix.length);
  return name === '' || name.includes(':') ? undefined : name;
}

/**
 * SQL that joins the account `u` of a row `b` by its `username`. The limit forces an index lookup: the planner might
 * otherwise scan all accounts for each batch.
 */
export const ACCOUNT_OF_ROW =
  'join lateral (select id, created_at from users where username = b.username limit 1) u on true';

/** Returns one array per member, as `unnest` expects them. */
export function columnsOf<Row extends object>(rows: readonly Row[], names: readonly (keyof Row)[]): unknown[][] {
  return names.map((name) => rows.map((row) => row[name]));
}

/** 9999-12-31T23:59:59.999Z: fits into IDs and PostgreSQL, and later times cannot be intended. */
const MAX_TIME = 253_402_300_799_999;

/** Returns a `Date`, or null for a time that cannot be intended. */
export function timeOf(milliseconds: number | null): Date | null {
  return milliseconds !== null && milliseconds > 0 && milliseconds <= MAX_TIME ? new Date(milliseconds) : null;
}

/** Clamps an expiry instead of dropping it, because a token without one would never expire. */
export function endOf(milliseconds: number | null): Date | null {
  return milliseconds === null ? null : new Date(Math.min(Math.max(milliseconds, 0), MAX_TIME));
}
