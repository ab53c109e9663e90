import type { Readable, Writable } from 'node:stream';
import type { ConfigurationOptions, ProcessContext } from '#app/service/process-context.ts';

/** Process environment of a command. */
export interface CommandIo extends ProcessContext {
  readonly stdin: Readable;
  /** Whether standard input is a terminal. */
  readonly isTerminal: boolean;
  /** Output for prompts. */
  readonly terminal: Writable;
  /** Results. */
  stdout(text: string): void;
  /** False after the reader closed the pipe, as in `latchkey … | head`. */
  hasReader(): boolean;
  /** Messages. */
  stderr(text: string): void;
}

/** Options that all commands share. */
export interface CommandOptions extends ConfigurationOptions {
  /** Print results as JSON. */
  readonly isJson: boolean;
}
