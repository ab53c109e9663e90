/**
 * `latchkey config ...`: check, dump, generate and schema. None of them opens the database. Modules other than the
 * loader are imported on demand.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ConfigSources, LoadedConfig } from '#config/load.ts';
import { systemClock } from '#platform/base/clock.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { randomAlphanumeric, randomBytes } from '#platform/base/random.ts';
import { plain } from '#platform/config/tree.ts';
import type { CarriedSettings } from './import/carried-settings.ts';
import { createFile, replaceFile } from './output-file.ts';

/** Output of a command. */
export interface CommandOutput {
  stdout(text: string): void;
  stderr(text: string): void;
}

/**
 * Validates every source and loads the configured signing keys.
 * @throws ExitError 78 with all problems
 */
export async function checkConfig(sources: ConfigSources, isJson: boolean, output: CommandOutput): Promise<void> {
  if (!isJson) {
    const { files, warnings } = await examine(sources);
    for (const warning of warnings) output.stderr(`latchkey: warning: ${warning}\n`);
    const names = files.length === 0 ? 'no file, only defaults and environment' : files.join(', ');
    output.stdout(`Configuration is valid: ${names}\n`);
    return;
  }
  try {
    output.stdout(`${JSON.stringify({ valid: true, ...(await examine(sources)), problems: [] })}\n`);
  } catch (error) {
    if (error instanceof ExitError && error.exitCode === ExitCode.config) {
      output.stdout(`${JSON.stringify({ valid: false, problems: problemsOf(error) })}\n`);
    }
    throw error;
  }
}

/** Returns one line for each problem, without the heading that precedes several. */
function problemsOf({ message }: ExitError): readonly string[] {
  const [heading = '', ...lines] = message.split('\n');
  return lines.length === 0 ? [heading] : lines.map((line) => line.trim());
}

async function examine(sources: ConfigSources) {
  const loaded = await load(sources);
  const { config, tree } = loaded;
  if (config.secrets.keys.length > 0)
    (await import('#app/service/foundation.ts')).loadSigningKeys(config.secrets, tree);
  if (config.policy.modulePath !== undefined)
    await (await import('#app/service/foundation.ts')).loadConfiguredModule(loaded);
  const { certificateWarnings } = await import('#app/service/certificate-warnings.ts');
  const warnings = [
    ...loaded.warnings,
    ...loaded.deprecations,
    ...certificateWarnings(config.http.listeners, systemClock.now()),
  ];
  return { files: loaded.files, warnings };
}

async function load(sources: ConfigSources): Promise<LoadedConfig> {
  const { loadConfig } = await import('#config/load.ts');
  return loadConfig(sources);
}

export interface DumpConfigOptions {
  /** File to write instead of standard output, mode 0600. */
  readonly output?: string | undefined;
  readonly defaults: boolean;
  readonly showSecrets: boolean;
  /** As JSON. */
  readonly json: boolean;
}

/** Prints the merged configuration as YAML or JSON, with secrets shown as `<redacted>`. */
export async function dumpConfig(
  sources: ConfigSources,
  options: DumpConfigOptions,
  output: CommandOutput,
): Promise<void> {
  const loaded = await load(sources);
  if (sources.isMas === true && loaded.masDocument !== undefined && options.showSecrets) {
    const { stringify } = await import('yaml');
    await write({ ...options, force: true }, stringify(plain(loaded.masDocument), { lineWidth: 0 }), output);
    return;
  }
  const { dumpedConfig, dumpedSettings } = await import('#config/reference/dump.ts');
  const text = options.json ? `${JSON.stringify(dumpedSettings(loaded, options))}\n` : dumpedConfig(loaded, options);
  if (options.output === undefined) output.stdout(text);
  else replaceFile(options.output, text);
}

export interface GenerateConfigOptions {
  /** File to write instead of standard output, mode 0600. */
  readonly output?: string | undefined;
  /** Overwrite the file. */
  readonly force: boolean;
  /** As JSON, without comments. JSON is a valid configuration format. */
  readonly json: boolean;
  /** Path or URL of the JSON Schema, for the first line of the file. */
  readonly schemaPath: string;
  /** Write the file as Matrix Authentication Service does, unless Synapse settings are converted. */
  readonly isMas?: boolean;
  /** Synapse configuration files to convert, and the base of relative paths. */
  readonly synapse?: { readonly files: readonly string[]; readonly workingDirectory: string };
}

/**
 * Writes a commented file with new keys and the settings converted from Synapse.
 * @throws ExitError 73 if the file exists and `force` is off; 1 or 77 if the Synapse settings cannot be read
 */
export async function generateConfig(options: GenerateConfigOptions, output: CommandOutput): Promise<void> {
  if (options.isMas === true && (options.synapse?.files.length ?? 0) === 0) {
    const { sampleMasConfig } = await import('#config/mas/sample.ts');
    await write(options, await sampleMasConfig(), output);
    return;
  }
  const { sampleConfig, sampleKeys } = await import('#config/reference/sample.ts');
  const carried = await carriedOver(options);
  const text = sampleConfig(
    {
      http: { public_base: 'http://localhost:8080' },
      database: { uri: 'embedded:' },
      secrets: {
        encryption: randomBytes(32).toString('hex'),
        keys: await sampleKeys(),
      },
      homeserver: { kind: 'none', homeserver: 'localhost', secret: randomAlphanumeric(32) },
      ...carried.values,
    },
    options.schemaPath,
  );
  await write(options, text, output);
  for (const warning of carried.warnings) output.stderr(`latchkey: warning: ${warning}\n`);
}

async function carriedOver({ synapse }: GenerateConfigOptions): Promise<CarriedSettings> {
  if (synapse === undefined || synapse.files.length === 0) return { values: {}, warnings: [] };
  const { readSynapseConfiguration } = await import('./import/synapse-files.ts');
  const { carrySettings } = await import('./import/carried-settings.ts');
  return carrySettings(readSynapseConfiguration(synapse.files, synapse.workingDirectory), systemClock.now());
}

export interface ConvertConfigOptions {
  /** Files of Matrix Authentication Service. */
  readonly files: readonly string[];
  /** File to write instead of standard output, mode 0600. */
  readonly output?: string | undefined;
  /** Overwrite the file. */
  readonly force: boolean;
  /** As JSON, without comments. */
  readonly json: boolean;
  readonly schemaPath: string;
}

/** Variables that stay in effect for the converted file, so that it does not need their values. */
const KEPT_VARIABLE = /^(?:LATCHKEY_|RUST_LOG$)/;

/**
 * Writes the settings of Matrix Authentication Service as a configuration of Latchkey, with the same effect.
 * @throws ExitError 78 with the problems of the files; 73 if the output file exists and `force` is off
 */
export async function convertConfig(
  options: ConvertConfigOptions,
  { environment, workingDirectory }: Pick<ConfigSources, 'environment' | 'workingDirectory'>,
  output: CommandOutput,
): Promise<void> {
  const missing = options.files.find((file) => !existsSync(resolve(workingDirectory, file)));
  if (missing !== undefined) throw new ExitError(ExitCode.failure, `cannot read ${missing}: no such file`);
  const variables = Object.entries(environment).filter(([name]) => !KEPT_VARIABLE.test(name));
  const loaded = await load({
    files: options.files,
    environment: Object.fromEntries(variables),
    flags: {},
    workingDirectory,
    isMas: true,
  });
  if (loaded.masNotes === undefined) {
    throw new ExitError(ExitCode.failure, `${options.files.join(', ')} is a configuration of Latchkey already`);
  }
  const { convertedConfig } = await import('#config/reference/converted.ts');
  await write(options, convertedConfig(loaded, options.schemaPath), output);
  for (const warning of loaded.warnings) output.stderr(`latchkey: warning: ${warning}\n`);
}

export interface GenerateClientOptions {
  readonly output?: string | undefined;
  readonly force: boolean;
  readonly json: boolean;
  /** If empty, a placeholder is written. */
  readonly redirectUris: readonly string[];
}

/**
 * Writes an entry of `clients` with a new ID and secret, to paste into the configuration.
 * @throws ExitError 2 for an invalid redirect URI, 73 if the file exists and `force` is off
 */
export async function generateClient(options: GenerateClientOptions, output: CommandOutput): Promise<void> {
  const { redirectUriProblem } = await import('#protocol/oauth/redirect-uris.ts');
  for (const uri of options.redirectUris) {
    const problem = redirectUriProblem(uri);
    if (problem !== undefined) throw new ExitError(ExitCode.usage, `--redirect-uri ${uri}: ${problem}`);
  }
  const { sampleClient } = await import('#config/reference/sample.ts');
  await write(options, sampleClient(systemClock.now(), options.redirectUris), output);
}

/** Prints the JSON Schema of the file. */
export async function configSchema(output: CommandOutput): Promise<void> {
  const { configJsonSchemaText } = await import('#config/reference/json-schema.ts');
  output.stdout(configJsonSchemaText());
}

/** Prints the manual page of the keys, stored as `docs/reference/configuration.md`. */
export async function configManual(output: CommandOutput): Promise<void> {
  const { configManualText } = await import('#config/reference/manual.ts');
  output.stdout(configManualText());
}

/** @param yaml the document */
async function write(
  options: Pick<GenerateConfigOptions, 'output' | 'force' | 'json'>,
  yaml: string,
  output: CommandOutput,
): Promise<void> {
  const text = options.json ? `${JSON.stringify((await import('yaml')).parse(yaml))}\n` : yaml;
  if (options.output === undefined) output.stdout(text);
  else if (options.force) replaceFile(options.output, text);
  else createFile(options.output, text, 'use --force to overwrite it');
}
