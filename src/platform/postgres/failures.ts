/** What can go wrong with a statement: how the driver's errors are read, and the error that callers get. */
import { DatabaseError } from 'pg';
import { LatchkeyError } from '#platform/base/errors.ts';

/**
 * The server refused a statement; nothing of it took effect. Contains neither parameters nor row values: the parts of
 * the server's message that may show them (its detail, and the message of data errors) are left out, since errors are
 * logged.
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

/** The connection ended before the answer arrived: whether the statement took effect is unknown. */
export class ConnectionLost extends Error {
  constructor(label: string, reason: string) {
    super(`connection lost during statement ${label}: ${reason}`);
    this.name = 'ConnectionLost';
  }
}

/** The guard of a piece of work was refused. No `StatementError`: it says nothing of the statement it went with. */
export class GuardRefused extends Error {
  constructor() {
    super('the guard was refused');
    this.name = 'GuardRefused';
  }
}

/** Whether an insert or update met an existing key; `constraint` names the one that is expected. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return (
    error instanceof StatementError &&
    error.sqlState === '23505' &&
    (constraint === undefined || error.constraint === constraint)
  );
}

/** Whether a row that was about to be stored refers to one that is gone. */
export function isMissingReference(error: unknown): boolean {
  return error instanceof StatementError && error.sqlState === '23503';
}

/** A serialization failure or deadlock, which the server resolved by ending this transaction; it may be repeated. */
export function isConflict(error: unknown): boolean {
  return error instanceof StatementError && (error.sqlState === '40001' || error.sqlState === '40P01');
}

/** Another transaction held a row or table lock for too long. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof StatementError && error.sqlState === '55P03';
}

/** `cached plan must not change result type`: the schema changed after the statement was prepared. */
export function isStalePlan(error: unknown): boolean {
  return error instanceof StatementError && error.sqlState === '0A000';
}

/** The server does not know the name of the prepared statement, so it did not run it. */
export function isUnknownName(error: unknown): boolean {
  return error instanceof StatementError && error.sqlState === '26000';
}

/** The server takes no writes (any more): another one may have taken its place. Nothing took effect. */
export function isReadOnlyServer(error: unknown): boolean {
  return error instanceof StatementError && error.sqlState === '25006';
}

const RETRY_AFTER_SECONDS = 5;

/** The error for callers while the database cannot serve them. */
export function unavailable(description: string, cause?: unknown): LatchkeyError {
  return new LatchkeyError('temporarily_unavailable', { description, retryAfterSeconds: RETRY_AFTER_SECONDS, cause });
}

/** The error for a request whose time limit has answered for it. */
export function tooLate(): LatchkeyError {
  return unavailable('The request took too long.');
}

// Classes and codes of PostgreSQL manual appendix A.
const UNAVAILABLE = /^(08(?!P01)|53|58|25006|40001|40P01|55P03|57014|57P|0A000|26000|42501|28)/;
const INVALID_TEXT = /^(22021|22P05)$/;

/**
 * The error a caller gets: `temporarily_unavailable` when it passes by itself or an operator can fix it (connection,
 * resources, disk full, read-only mode, time-outs, conflicts), `malformed_request` for text that no column can store (a
 * zero byte), any other error unchanged.
 */
export function toCallersError(error: unknown): unknown {
  if (error instanceof ConnectionLost) return unavailable('The outcome is unknown.', error);
  if (!(error instanceof StatementError)) return error;
  if (UNAVAILABLE.test(error.sqlState)) return unavailable('The database cannot do this now.', error);
  if (INVALID_TEXT.test(error.sqlState)) return new LatchkeyError('malformed_request', { cause: error });
  return error;
}

// Codes with which the server ends the whole session.
const ENDS_SESSION = /^(08(?!P01)|57P0[1235]|25P0[34])/;

/**
 * Turns what the driver reports into a `StatementError` or `ConnectionLost`; any other error
 * (a parameter that it cannot encode) is returned unchanged.
 * @param lostReason why the connection ended, when it did
 */
export function readFailure(label: string, error: unknown, lostReason: unknown): unknown {
  if (error instanceof DatabaseError) {
    return endsSession(error) ? new ConnectionLost(label, reasonOf(error)) : new StatementError(label, error);
  }
  if (lostReason !== undefined) return new ConnectionLost(label, reasonOf(lostReason));
  return isUnusable(error) ? new ConnectionLost(label, reasonOf(error)) : error;
}

/** PgBouncer says that it lost its server as a protocol violation, which is fatal there and an error of ours elsewhere. */
function endsSession({ code = '', severity }: DatabaseError): boolean {
  return ENDS_SESSION.test(code) || severity === 'FATAL' || severity === 'PANIC';
}

/** Whether the driver refuses the query because its connection ended, or nobody listened for that end. */
function isUnusable(error: unknown): boolean {
  return error instanceof Error && /is not queryable$|^Connection terminated/.test(error.message);
}

/** A short reason for the log. For a refused `localhost` Node throws several errors in one that has no message. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  if (error instanceof DatabaseError) return `${error.message} (${error.code ?? 'no code'})`;
  return error instanceof Error ? error.message : String(error);
}

/** Of the system or the server (SQLSTATE). */
export function codeOf(error: unknown): string | undefined {
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Which disk is full; begins with a full stop. Sorts and the like are written apart from tables where that is set. */
function diskAdvice({ code, message }: DatabaseError): string {
  if (code !== '53100') return '';
  return /pgsql_tmp|temporary file/.test(message)
    ? '. The disk of the temporary files of the server is full: that of temp_tablespaces if it is set, else that of its data.'
    : '. A disk of the server is full.';
}

const MISSING_PRIVILEGE = '42501';

/** The role may not do something; an operator has to grant it. */
export function isMissingPrivilege(error: unknown): boolean {
  return error instanceof StatementError
    ? error.sqlState === MISSING_PRIVILEGE
    : error instanceof DatabaseError && error.code === MISSING_PRIVILEGE;
}

/** What to grant; begins with a full stop. */
export function privilegeAdvice({ code, message }: Pick<DatabaseError, 'code' | 'message'>): string {
  if (code !== MISSING_PRIVILEGE) return '';
  const [, schema] = /^permission denied for schema (\S+)$/.exec(message) ?? [];
  return schema === undefined
    ? '. The role of the service has to own the tables: run "reassign owned by OTHER to ROLE" in this database as an administrator.'
    : `. ${grantText({ schema, role: 'ROLE' })}`;
}

/** Since PostgreSQL 15 nobody but the owner of a database creates tables in its schema `public`. */
export function grantText({ role, schema }: { readonly role: string; readonly schema: string }): string {
  return `Run "grant usage, create on schema ${schema} to ${role}" in this database as an administrator, or make ${role} the owner of the database.`;
}

/** The server asks for a password, and there is none. */
export class MissingPassword extends Error {
  readonly code = 'NO_PASSWORD';

  constructor() {
    super('the server asks for a password, and none is set');
    this.name = 'MissingPassword';
  }
}

/** The server refused a connection for its password. */
export function isWrongPassword(error: unknown): boolean {
  return codeOf(error) === '28P01';
}

/** What to do where a connection was refused; begins with a full stop. */
export function adviceOn(error: unknown): string {
  switch (codeOf(error)) {
    case 'ECONNREFUSED':
    case 'ENOENT':
      return '. Is the server running, and are host and port right?';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return '. The host name cannot be resolved.';
    case '28P01':
    case '28000':
      return '. Check user, password and pg_hba.conf; another password is used after a reload, other settings after a restart.';
    case 'NO_PASSWORD':
      return '. Set database.password or database.password_file, or put the password into database.uri.';
    case '3D000':
      return '. Create the database, owned by this user, with encoding UTF8.';
    default:
      return '';
  }
}
