import type { Readable, Writable } from 'node:stream';
import type { ConfigSources } from '#config/load.ts';
import type { StopSignals } from './shutdown.ts';

/** Process environment of a command. */
export interface CommandIo {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly workingDirectory: string;
  /** Version of this program. */
  readonly version: string;
  readonly stdin: Readable;
  /** Whether standard input is a terminal. */
  readonly isTerminal: boolean;
  /** Output for prompts. */
  readonly terminal: Writable;
  readonly signals: StopSignals;
  /** Results. */
  stdout(text: string): void;
  /** False after the reader closed the pipe, as in `latchkey … | head`. */
  hasReader(): boolean;
  /** Messages. */
  stderr(text: string): void;
}

/** Sources of a command's configuration, from the command line. */
export interface ConfigurationOptions {
  readonly files: readonly string[];
  readonly flags: {
    readonly dataDir?: string | undefined;
    readonly logLevel?: string | undefined;
    readonly logFormat?: string | undefined;
  };
  /** Omit informational lines. */
  readonly isQuiet: boolean;
  /** Print results as JSON. */
  readonly isJson: boolean;
}

/** Returns the sources of a command's configuration. */
export function configSources(options: ConfigurationOptions, io: CommandIo): ConfigSources {
  return {
    files: options.files,
    environment: io.environment,
    flags: options.flags,
    workingDirectory: io.workingDirectory,
  };
}
