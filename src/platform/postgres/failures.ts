/** Interprets the driver's errors and defines the errors that callers receive. */
import { DatabaseError } from 'pg';
import { LatchkeyError } from '#platform/base/errors.ts';

/**
 * The server rejected a statement, which had no effect. Contains neither parameters nor row values, since errors are
 * logged. The parts of the server's message that may show them are omitted: its detail, and the message of data errors.
 */
export class StatementError extends Error {
  /** Five characters, PostgreSQL manual appendix A. */
  readonly sqlState: string;
  /** Name of the violated constraint or unique index. */
  readonly constraint: string | undefined;

  constructor(label: string, error: DatabaseError) {
    const sqlState = error.code ?? 'XX000';
    const message = sqlState.startsWith('22') ? '' : ` ${error.message}`;
    super(`statement ${label} failed: ${sqlState}${message}${diskAdvice(error)}${privilegeAdvice(error)}`);
    this.name = 'StatementError';
    this.sqlState = sqlState;
    this.constraint = error.constraint;
  }
}

/** The connection was lost before the result arrived, so the outcome of the statement is unknown. */
export class ConnectionLost extends Error {
  constructor(label: string, reason: string) {
    super(`connection lost during statement ${label}: ${reason}`);
    this.name = 'ConnectionLost';
  }
}

/**
 * The server rejected the guard of a unit of work. Not a `StatementError`, since the statement sent with it was not at
 * fault.
 */
export class GuardRefused extends Error {
  constructor() {
    super('the guard was rejected');
    this.name = 'GuardRefused';
  }
}

/** Returns whether an insert or update violated a unique constraint, or the given one. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return (
    error instanceof StatementError &&
    error.sqlState === '23505' &&
    (constraint === undefined || error.constraint === constraint)
  );
}

/** Returns whether a new row references a row that no longer exists. */
export function isMissingReference(error: unknown): boolean {
  return error instanceof StatementError && error.sqlState === '23503';
}

/**
 * Returns whether the server rolled the transaction back for a serialization failure or deadlock. It can be retried.
 */
export function isConflict(error: unknown): boolean {
  return error instanceof StatementError && (error.sqlState === '40001' || error.sqlState === '40P01');
}

/** Returns whether another transaction held a row or table lock for too long. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof StatementError && error.sqlState === '55P03';
}

/** Returns whether the schema changed after the statement was prepared (`cached plan must not change result type`). */
export function isStalePlan(error: unknown): boolean {
  return error instanceof StatementError && error.sqlState === '0A000';
}

/** Returns whether the server did not run the statement because it does not know its name. */
export function isUnknownName(error: unknown): boolean {
  return error instanceof StatementError && error.sqlState === '26000';
}

/**
 * Returns whether the statement failed because the server is read-only, for example after a failover. It had no effect.
 */
export function isReadOnlyServer(error: unknown): boolean {
  return error instanceof StatementError && error.sqlState === '25006';
}

const RETRY_AFTER_SECONDS = 5;

/** Creates the error for callers while the database is unavailable. */
export function unavailable(description: string, cause?: unknown): LatchkeyError {
  return new LatchkeyError('temporarily_unavailable', { description, retryAfterSeconds: RETRY_AFTER_SECONDS, cause });
}

/** Creates the error for a request that was already answered by its time limit. */
export function tooLate(): LatchkeyError {
  return unavailable('The request took too long.');
}

// Classes and codes of PostgreSQL manual appendix A.
const UNAVAILABLE = /^(08(?!P01)|53|58|25006|40001|40P01|55P03|57014|57P|0A000|26000|42501|28)/;
const INVALID_TEXT = /^(22021|22P05)$/;

/**
 * Converts an error for callers. Temporary errors, and those that an operator can fix, become `temporarily_unavailable`
 * (connection, resources, disk full, read-only mode, timeouts, conflicts). Text that no column can store (a zero byte)
 * becomes `malformed_request`. Other errors stay unchanged.
 */
export function toCallersError(error: unknown): unknown {
  if (error instanceof ConnectionLost) return unavailable('The outcome is unknown.', error);
  if (!(error instanceof StatementError)) return error;
  if (UNAVAILABLE.test(error.sqlState)) return unavailable('The database is temporarily unavailable.', error);
  if (INVALID_TEXT.test(error.sqlState)) return new LatchkeyError('malformed_request', { cause: error });
  return error;
}

// Codes of errors that end the whole session.
const ENDS_SESSION = /^(08(?!P01)|57P0[1235]|25P0[34])/;

/**
 * Converts a driver error to a `StatementError` or `ConnectionLost`. Other errors (for a parameter that cannot be
 * encoded) are returned unchanged.
 * @param lostReason why the connection ended, if it did
 */
export function readFailure(label: string, error: unknown, lostReason: unknown): unknown {
  if (error instanceof DatabaseError) {
    return endsSession(error) ? new ConnectionLost(label, reasonOf(error)) : new StatementError(label, error);
  }
  if (lostReason !== undefined) return new ConnectionLost(label, reasonOf(lostReason));
  return isUnusable(error) ? new ConnectionLost(label, reasonOf(error)) : error;
}

/** PgBouncer reports a lost server connection as a fatal protocol violation. Nonfatal ones indicate a bug of ours. */
function endsSession({ code = '', severity }: DatabaseError): boolean {
  return ENDS_SESSION.test(code) || severity === 'FATAL' || severity === 'PANIC';
}

/** Returns whether the driver rejected the query because its connection had ended, possibly unnoticed. */
function isUnusable(error: unknown): boolean {
  return error instanceof Error && /is not queryable$|^Connection terminated/.test(error.message);
}

/**
 * Returns a short reason for the log. If `localhost` refuses connections, Node throws several errors in one without a
 * message.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  if (error instanceof DatabaseError) return `${error.message} (${error.code ?? 'no code'})`;
  return error instanceof Error ? error.message : String(error);
}

/** Returns the code of a system error or the SQLSTATE. */
export function codeOf(error: unknown): string | undefined {
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Names the full disk, starting with a period. Temporary files can be on another disk than tables. */
function diskAdvice({ code, message }: DatabaseError): string {
  if (code !== '53100') return '';
  return /pgsql_tmp|temporary file/.test(message)
    ? ". The disk of the database server's temporary files is full (temp_tablespaces if set, otherwise the data directory)."
    : '. A disk of the database server is full.';
}

const MISSING_PRIVILEGE = '42501';

/** Returns whether the role lacks a privilege, which an operator has to grant. */
export function isMissingPrivilege(error: unknown): boolean {
  return error instanceof StatementError
    ? error.sqlState === MISSING_PRIVILEGE
    : error instanceof DatabaseError && error.code === MISSING_PRIVILEGE;
}

/** Names the privilege to grant, starting with a period. */
export function privilegeAdvice({ code, message }: Pick<DatabaseError, 'code' | 'message'>): string {
  if (code !== MISSING_PRIVILEGE) return '';
  const [, schema] = /^permission denied for schema (\S+)$/.exec(message) ?? [];
  return schema === undefined
    ? '. The role of the service must own the tables: run "reassign owned by OTHER to ROLE" in this database as an administrator.'
    : `. ${grantText({ schema, role: 'ROLE' })}`;
}

/** Since PostgreSQL 15, only the owner of a database can create tables in its `public` schema by default. */
export function grantText({ role, schema }: { readonly role: string; readonly schema: string }): string {
  return `Run "grant usage, create on schema ${schema} to ${role}" in this database as an administrator, or make ${role} the owner of the database.`;
}

/** The server asks for a password, but none is configured. */
export class MissingPassword extends Error {
  readonly code = 'NO_PASSWORD';

  constructor() {
    super('the server requests a password, but none is configured');
    this.name = 'MissingPassword';
  }
}

/** Returns whether the server rejected the password. */
export function isWrongPassword(error: unknown): boolean {
  return codeOf(error) === '28P01';
}

/** Says how to fix a refused connection, starting with a period. */
export function adviceOn(error: unknown): string {
  switch (codeOf(error)) {
    case 'ECONNREFUSED':
    case 'ENOENT':
      return '. Check that the server is running and that host and port are correct.';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return '. The host name cannot be resolved.';
    case '28P01':
    case '28000':
      return '. Check user, password and pg_hba.conf. A changed password takes effect after a reload, other settings after a restart.';
    case 'NO_PASSWORD':
      return '. Set database.password or database.password_file, or include the password in database.uri.';
    case '3D000':
      return '. Create the database with this user as owner and encoding UTF8.';
    default:
      return '';
  }
}
