import type { ConfigSources } from '#config/load.ts';
import type { CommandIo, ConfigurationOptions } from './command-io.ts';

/** The sources of a command's configuration. */
export function configSources(options: ConfigurationOptions, io: CommandIo): ConfigSources {
  return {
    files: options.files,
    environment: io.environment,
    flags: options.flags,
    workingDirectory: io.workingDirectory,
  };
}
