import type { Readable, Writable } from 'node:stream';
import type { ConfigSources } from '#config/load.ts';
import type { StopSignals } from './shutdown.ts';

/** What a command is given of the process it runs in. */
export interface CommandIo {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly workingDirectory: string;
  /** Version of this program. */
  readonly version: string;
  readonly stdin: Readable;
  /** Whether standard input is a terminal. */
  readonly isTerminal: boolean;
  /** Where questions are asked. */
  readonly terminal: Writable;
  readonly signals: StopSignals;
  /** Results. */
  stdout(text: string): void;
  /** False once nobody reads results any more, as in `latchkey … | head`. */
  hasReader(): boolean;
  /** Messages. */
  stderr(text: string): void;
}

/** Where a command's configuration comes from, as the command line says. */
export interface ConfigurationOptions {
  readonly files: readonly string[];
  readonly flags: {
    readonly dataDir?: string | undefined;
    readonly logLevel?: string | undefined;
    readonly logFormat?: string | undefined;
  };
  /** No informational lines. */
  readonly isQuiet: boolean;
  /** Results as JSON. */
  readonly isJson: boolean;
}

/** The sources of a command's configuration. */
export function configSources(options: ConfigurationOptions, io: CommandIo): ConfigSources {
  return {
    files: options.files,
    environment: io.environment,
    flags: options.flags,
    workingDirectory: io.workingDirectory,
  };
}
