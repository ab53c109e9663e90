/** Options of the `templates` commands (operations 3.7). */
import type { Command } from 'commander';
import type { CommandIo, CommandOptions } from './command-io.ts';
import type { CheckTemplatesFlags } from './templates.ts';

export function addTemplatesCommands(
  program: Command,
  configuration: () => CommandOptions,
  io: CommandIo,
  finish: (exitCode: number) => void,
): void {
  program
    .command('templates')
    .description('check the templates and translations of pages and emails')
    .command('check')
    .description('render all pages and emails with sample data in all languages; exit 1 if there are problems')
    .option('--out-dir <path>', 'write the results to this directory, which must be empty or not exist')
    .option('--stabilise', 'use the same times, random values and file names in each run, to compare versions', false)
    .action(async (flags: CheckTemplatesFlags) =>
      finish(await (await import('./templates.ts')).checkAllTemplates(configuration(), flags, io)),
    );
}
