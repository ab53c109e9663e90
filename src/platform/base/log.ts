/**
 * The interface of the log: one event name, one message, a few fields. The writer behind it
 * (`http/logging/`) adds time and level, and the identifier of the current task.
 *
 * Nothing of the secret list ever goes in: no token, code, password, cookie, query string, body or SQL parameter.
 */
export interface Log {
  error(event: string, message: string, fields?: LogFields): void;
  warn(event: string, message: string, fields?: LogFields): void;
  info(event: string, message: string, fields?: LogFields): void;
  debug(event: string, message: string, fields?: LogFields): void;
  /** Present when such lines are written: what is asked of it on each statement costs nothing otherwise. */
  readonly trace?: ((event: string, message: string, fields?: LogFields) => void) | undefined;
}

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Message, stack and causes of anything thrown, for the fields of an `error` line. */
export function describeError(error: unknown): { message: string; stack?: string } {
  if (!(error instanceof Error)) return { message: String(error) };
  const stack = error.stack ?? error.message;
  const cause =
    error.cause === undefined ? '' : `\ncaused by: ${describeError(error.cause).stack ?? String(error.cause)}`;
  return { message: error.message, stack: stack + cause };
}
