/** What the steps of an import from Matrix Authentication Service share. */

import type { SecretKeys } from '#domain/keys/secret-keys.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { PasswordScheme } from '#platform/password-hash/schemes.ts';
import type { ImportSource } from '../source.ts';
import type { ImportTarget } from '../target.ts';

/**
 * Tables whose keys and indexes are dropped while they are filled. Other tables of an import are small, or keep their
 * indexes because single rows are compared with existing ones.
 */
export const MAS_IMPORT_TABLES = [
  'users',
  'user_passwords',
  'user_emails',
  'user_unsupported_threepids',
  'user_terms',
  'user_sessions',
  'user_session_authentications',
  'imported_browser_sessions',
  'upstream_links',
  'upstream_authorizations',
  'oauth2_sessions',
  'oauth2_access_tokens',
  'oauth2_refresh_tokens',
  'compat_sessions',
  'compat_access_tokens',
  'compat_refresh_tokens',
  'personal_sessions',
  'personal_access_tokens',
] as const;

export type MasImportTarget = ImportTarget<(typeof MAS_IMPORT_TABLES)[number]>;

/** Kinds of rows that cannot be moved, which the operator may leave out: values of `--skip`. */
export const MAS_SKIPPED_KINDS = [
  'client-secrets',
  'foreign-hashes',
  'identifier-names',
  'orphans',
  'password-versions',
  'policy-data',
  'running',
  'token-forms',
  'unusable-emails',
] as const;

export type MasSkippedKind = (typeof MAS_SKIPPED_KINDS)[number];

/** Settings of MAS that its database depends on. */
export interface MasSettings {
  /** The 32 bytes of `secrets.encryption`. */
  readonly encryptionKey: Buffer;
  readonly schemes: readonly Pick<PasswordScheme, 'algorithm' | 'version'>[];
}

export interface MasImport extends MasSettings {
  readonly source: ImportSource;
  readonly target: MasImportTarget;
  readonly keyRing: KeyRing;
  readonly secretKeys: Pick<SecretKeys, 'registrationTokens'>;
  /** Whether a homeserver is configured, which jobs call. */
  readonly hasHomeserver: boolean;
  readonly protocolName: string;
  /** Whether policy data from MAS is valid here. */
  readonly isPolicyData: (data: unknown) => boolean;
  /** Start of the import. */
  readonly now: Date;
}

/** Why rows were skipped. */
export type MasSkipReason =
  | 'duplicate'
  | 'identifier name'
  | 'invalid'
  | 'no account'
  | 'no client'
  | 'no provider'
  | 'no session'
  | 'not needed'
  | 'unknown form'
  | 'unknown password hash'
  | 'unreadable secret'
  | 'unusable address';

/** Result of a step. */
export interface MasOutcome {
  readonly done: number;
  readonly skipped: Readonly<Partial<Record<MasSkipReason, number>>>;
}

export interface MasStep {
  readonly entity: MasEntity;
  /** Tables of MAS used to estimate the number of rows. */
  readonly tables: readonly string[];
  run(context: MasImport): Promise<MasOutcome>;
}

export type MasEntity =
  | 'jobs'
  | 'users'
  | 'passwords'
  | 'email addresses'
  | 'third-party ids'
  | 'terms'
  | 'registration tokens'
  | 'upstream providers'
  | 'upstream links'
  | 'clients'
  | 'browser sessions'
  | 'upstream sessions'
  | 'OAuth sessions'
  | 'OAuth access tokens'
  | 'OAuth refresh tokens'
  | 'compat sessions'
  | 'compat access tokens'
  | 'compat refresh tokens'
  | 'personal sessions'
  | 'personal access tokens'
  | 'policy data';

/**
 * Copies the result of a query on the source into a temporary table of the target. The rows pass through as a stream.
 * @param columns definition of the table, in the order of the query's columns
 * @returns the number of rows
 */
export async function stage(
  { source, target }: Pick<MasImport, 'source' | 'target'>,
  table: string,
  columns: string,
  query: string,
): Promise<number> {
  await target.query(`create temporary table ${table} (${columns}) on commit drop`);
  const rows = await target.fill(table, source.copy(query));
  await target.query(`analyze ${table}`);
  return rows;
}

/** The creation time in an ID, as SQL. MAS does not store some creation times. */
export function timeOfIdSql(id: string): string {
  return `to_timestamp(('x' || substr(replace(${id}::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0)`;
}

/** A stored time, or the time of the ID if it is missing or infinite, as SQL. */
export function createdAtSql(createdAt: string, id: string): string {
  return `case when isfinite(${createdAt}) then ${createdAt} else ${timeOfIdSql(id)} end`;
}

/** SHA-256 of a token. It is computed by the source, so that readable tokens never reach the target. */
export function tokenHashSql(token: string): string {
  return `sha256(convert_to(${token}, 'UTF8'))`;
}

const FAMILY_CHARACTERS = 12;
const PREFIX_CHARACTERS = 4;

/** SHA-256 of the characters that all refresh tokens of a session share here. */
export function familyHashSql(token: string): string {
  return tokenHashSql(`substr(${token}, ${PREFIX_CHARACTERS + 1}, ${FAMILY_CHARACTERS})`);
}

/** Condition: the token has the form of MAS. Its checksum is compared only when it is used. */
export function isTokenSql(token: string, prefix: string): string {
  return `${token} ~ '^${prefix}_[0-9A-Za-z]{30}_[0-9A-Za-z]{6}$'`;
}
