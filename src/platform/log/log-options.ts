export const LOG_LEVELS = ['error', 'warn', 'info', 'debug', 'trace'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Destination and format of the log. */
export interface LogOptions {
  readonly level: LogLevel;
  /** Levels of individual events or groups of events (`db`, `http.server`), from `LATCHKEY_LOG`. */
  readonly targetLevels: Readonly<Record<string, LogLevel>>;
  readonly format: 'text' | 'json';
  readonly output: 'stderr' | 'stdout' | { readonly path: string };
  readonly color: 'auto' | 'always' | 'never';
  readonly padLevel: boolean;
}
