/** `latchkey templates check`: renders every page and mail with sample data in every language, without a database. */
import { randomInt } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { openAssets } from '#app/service/open-assets.ts';
import { configSources } from '#app/service/process-context.ts';
import { checkTemplates, type Render, type SampleValues } from '#app/templates/check-templates.ts';
import { loadConfig } from '#config/load.ts';
import { systemClock } from '#platform/base/clock.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { randomAlphanumeric } from '#platform/base/random.ts';
import { isErrno, systemReason } from '#platform/base/system-errors.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';

export interface CheckTemplatesFlags {
  readonly outDir?: string;
  readonly stabilise: boolean;
}

/** Fixed values that `--stabilise` uses instead of the clock and random values. */
const STABLE: SampleValues = { now: Date.UTC(2026, 0, 2, 3, 4, 5), token: 'sample', code: '123456' };

/**
 * @returns the exit code: 1 if there are problems, which are printed
 * @throws ExitError 78 for a configuration that is invalid apart from its templates, 1 for a directory that is in use
 */
export async function checkAllTemplates(
  options: CommandOptions,
  { outDir, stabilise }: CheckTemplatesFlags,
  io: CommandIo,
): Promise<number> {
  const directory = outDir === undefined ? undefined : resolve(io.workingDirectory, outDir);
  if (directory !== undefined) requireEmpty(directory);
  const { config, templateProblems } = loadConfig({ ...configSources(options, io), collectsTemplateProblems: true });
  const { languages, problems, renders } = stabilise
    ? checkTemplates(config, undefined, STABLE)
    : checkTemplates(config, openAssets(config.assets), presentValues());
  if (directory !== undefined) writeAll(directory, renders);
  const all = [...templateProblems.map(({ file, line, text }) => ({ template: file, line, text })), ...problems];
  if (options.isJson) io.stdout(`${JSON.stringify({ languages, renders: renders.length, problems: all })}\n`);
  else if (all.length > 0) io.stdout(all.map(({ template, line, text }) => `${template}:${line}: ${text}\n`).join(''));
  else io.stdout(`Templates are valid: ${renders.length} texts in ${languages.length} languages\n`);
  return all.length === 0 ? ExitCode.ok : ExitCode.failure;
}

function presentValues(): SampleValues {
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  return { now: systemClock.now(), token: randomAlphanumeric(32), code };
}

function requireEmpty(directory: string): void {
  let names: readonly string[];
  try {
    names = readdirSync(directory);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return;
    throw new ExitError(ExitCode.failure, `--out-dir ${directory}: ${systemReason(error)}`);
  }
  if (names.length > 0) throw new ExitError(ExitCode.failure, `--out-dir ${directory}: the directory is not empty`);
}

function writeAll(directory: string, renders: readonly Render[]): void {
  try {
    for (const { file, text } of renders) {
      const path = join(directory, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text, { flag: 'wx' });
    }
  } catch (error) {
    throw new ExitError(ExitCode.failure, `--out-dir ${directory}: ${systemReason(error)}`);
  }
}
