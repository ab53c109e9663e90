import type { ConfigSources } from '#config/load.ts';
import type { StopSignals } from './shutdown.ts';

/** Environment of a process that runs the service or opens its data. */
export interface ProcessContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly workingDirectory: string;
  /** Version of this program. */
  readonly version: string;
  readonly signals: StopSignals;
  /** The program is `mas-cli`, which reads files of Matrix Authentication Service. */
  readonly isMas?: boolean;
}

/** Sources of the configuration, from the command line. */
export interface ConfigurationOptions {
  readonly files: readonly string[];
  readonly flags: {
    readonly dataDir?: string | undefined;
    readonly logLevel?: string | undefined;
    readonly logFormat?: string | undefined;
  };
  /** Omit informational lines. */
  readonly isQuiet: boolean;
}

/** Returns the sources of the configuration of a process. */
export function configSources(
  { files, flags }: ConfigurationOptions,
  { environment, workingDirectory, isMas = false }: Pick<ProcessContext, 'environment' | 'workingDirectory' | 'isMas'>,
): ConfigSources {
  return { files, environment, flags, workingDirectory, isMas };
}
