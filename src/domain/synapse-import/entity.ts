/** One kind of thing that is copied, and how far its copy is. */
import type { ImportTarget } from './target.ts';

/** What a step works with. */
export interface ImportContext {
  readonly target: ImportTarget;
  /** The end of every identifier there: `:example.org`. */
  readonly suffix: string;
  /** Milliseconds since the epoch: when the import began. */
  readonly now: number;
  /** Identifiers of our providers by the names that Synapse had for them. */
  readonly providers: ReadonlyMap<string, string>;
}

/** Why rows were left out. */
export type SkipReason =
  | 'application service'
  | 'unknown account'
  | 'unusable name'
  /** The name reads as an identifier of an account. */
  | 'identifier name'
  /** The account is copied without its password. */
  | 'unknown password hash'
  /** It is kept apart, and is of no use here. */
  | 'unusable address'
  | 'unknown provider'
  | 'unknown form'
  | 'duplicate';

/** What became of one batch. */
export interface BatchOutcome {
  readonly done: number;
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>;
}

export interface ImportStep<Row extends object> {
  readonly entity: EntityName;
  /** Tables of Synapse, for an estimate of the number of rows. */
  readonly tables: readonly string[];
  /** Query of what is read there. */
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

/** The name of an account by its identifier there; undefined for one of another server, and one without a name. */
export function localpartOf(userId: string | null, suffix: string): string | undefined {
  if (userId?.startsWith('@') !== true || !userId.endsWith(suffix)) return undefined;
  const name = userId.slice(1, -suffix.length);
  return name === '' || name.includes(':') ? undefined : name;
}

/**
 * SQL that finds the account `u` of a row `b` by its `username`. The limit keeps the look-up by index: a planner would
 * read all accounts for each batch otherwise.
 */
export const ACCOUNT_OF_ROW =
  'join lateral (select id, created_at from users where username = b.username limit 1) u on true';

/** One array for each member, as `unnest` takes them. */
export function columnsOf<Row extends object>(rows: readonly Row[], names: readonly (keyof Row)[]): unknown[][] {
  return names.map((name) => rows.map((row) => row[name]));
}

/** 9999-12-31T23:59:59.999Z: what identifiers and PostgreSQL can hold, and more than anybody means. */
const MAX_TIME = 253_402_300_799_999;

/** The time as a `Date`, unless it is none that somebody meant. */
export function timeOf(milliseconds: number | null): Date | null {
  return milliseconds !== null && milliseconds > 0 && milliseconds <= MAX_TIME ? new Date(milliseconds) : null;
}

/** An end stays one, however odd: a token without it would never end. */
export function endOf(milliseconds: number | null): Date | null {
  return milliseconds === null ? null : new Date(Math.min(Math.max(milliseconds, 0), MAX_TIME));
}
