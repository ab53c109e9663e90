/**
 * `activity` (operations 3.10): reads request lines of the log and reports the activity of users and clients. It
 * streams, so neither the length of a log nor of a line matters. It needs no configuration and no database.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { systemReason } from '#platform/base/system-errors.ts';
import { readRequestLine } from '#platform/log/read-request-line.ts';
import { classify } from './activity/classify.ts';
import { linesOf, linesOfFile } from './activity/lines.ts';
import { csvOutput, type Format, jsonOutput, type Output, tableOutput } from './activity/output.ts';
import { pictureOutput } from './activity/picture.tsx';
import { type Selection, selector } from './activity/selection.ts';
import { summaryOutput } from './activity/summary.ts';
import type { CommandIo } from './command-io.ts';

export interface ActivityOptions extends Selection {
  /** Paths; `-` or an empty list means standard input. */
  readonly files: readonly string[];
  readonly format: Format;
  readonly summary: boolean;
  readonly prefix: string;
  readonly strict: boolean;
  /** Suppress warnings about unreadable lines. */
  readonly isQuiet: boolean;
}

/** @returns the exit code. Throws `ExitError` 1 if a file cannot be read */
export async function printActivity(options: ActivityOptions, io: CommandIo): Promise<ExitCode> {
  const files = options.files.length === 0 ? ['-'] : options.files;
  const paths = files.map((name) => (name === '-' ? name : resolve(io.workingDirectory, name)));
  // Check all files before printing, because partial output looks complete.
  for (const [index, path] of paths.entries()) if (path !== '-') requireReadable(path, files[index] ?? path);

  const output = outputOf(options);
  const isWanted = selector(options);
  let requests = 0;
  let malformed = 0;
  const take = (lines: readonly string[]): string => {
    let text = '';
    for (const line of lines) {
      const request = readRequestLine(line);
      if (request === undefined) continue;
      if (request === 'malformed') {
        malformed += 1;
        continue;
      }
      requests += 1;
      const record = classify(request, options.prefix);
      if (record !== undefined && isWanted(record)) text += output.add(record);
    }
    return text;
  };
  for (const [index, path] of paths.entries()) {
    const source = path === '-' ? linesOf(io.stdin) : linesOfFile(path, files[index] ?? path);
    for await (const lines of source) {
      const text = take(lines);
      if (text !== '') io.stdout(text);
      // The reader has closed the pipe, as in `latchkey activity … | head`.
      if (!io.hasReader()) return ExitCode.ok;
    }
  }
  io.stdout(output.end());
  if (malformed > 0 && (options.strict || !options.isQuiet))
    io.stderr(`latchkey: lines with http.server.response that could not be parsed: ${malformed}\n`);
  if (requests === 0 && malformed === 0 && !options.isQuiet) io.stderr('latchkey: no request lines found\n');
  return options.strict && malformed > 0 ? ExitCode.failure : ExitCode.ok;
}

function requireReadable(path: string, name: string): void {
  let isDirectory: boolean;
  try {
    accessSync(path, constants.R_OK);
    isDirectory = statSync(path).isDirectory();
  } catch (error) {
    throw new ExitError(ExitCode.failure, `cannot read ${name}: ${systemReason(error)}`, { cause: error });
  }
  if (isDirectory) throw new ExitError(ExitCode.failure, `cannot read ${name}: is a directory`);
}

function outputOf({ format, summary, since, until }: ActivityOptions): Output {
  if (format === 'svg') return pictureOutput({ since, until });
  if (summary) return summaryOutput(format);
  switch (format) {
    case 'table':
      return tableOutput();
    case 'json':
      return jsonOutput();
    case 'csv':
      return csvOutput();
  }
}
