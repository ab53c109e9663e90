/**
 * The log interface: an event name, a message and a few fields. The writer behind it (`platform/log/`) adds the time,
 * the level and the identifier of the current task.
 *
 * Never log anything on the secret list: no token, code, password, cookie, query string, body or SQL parameter.
 */
export interface Log {
  error(event: string, message: string, fields?: LogFields): void;
  warn(event: string, message: string, fields?: LogFields): void;
  info(event: string, message: string, fields?: LogFields): void;
  debug(event: string, message: string, fields?: LogFields): void;
  /** Defined only if trace lines are written, so that trace calls for each statement cost nothing otherwise. */
  readonly trace?: ((event: string, message: string, fields?: LogFields) => void) | undefined;
}

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Describes a thrown value for the fields of an `error` line: message, stack and causes. */
export function describeError(error: unknown): { message: string; stack?: string } {
  if (!(error instanceof Error)) return { message: String(error) };
  const stack = error.stack ?? error.message;
  const cause =
    error.cause === undefined ? '' : `\ncaused by: ${describeError(error.cause).stack ?? String(error.cause)}`;
  return { message: error.message, stack: stack + cause };
}
