/** Options of the `templates` commands (operations 3.7). */
import type { Command } from 'commander';
import type { CommandIo, ConfigurationOptions } from './command-io.ts';
import type { CheckTemplatesFlags } from './templates.ts';

export function addTemplatesCommands(
  program: Command,
  configuration: () => ConfigurationOptions,
  io: CommandIo,
  finish: (exitCode: number) => void,
): void {
  program
    .command('templates')
    .description('look at what pages and mails are made of')
    .command('check')
    .description('render every page and mail with made-up data in every language; exit 1 when something is wrong')
    .option('--out-dir <path>', 'write each of them into this directory, which is empty or does not exist')
    .option('--stabilise', 'the same times, random values and file names each time, to compare two versions', false)
    .action(async (flags: CheckTemplatesFlags) =>
      finish(await (await import('./templates.ts')).checkAllTemplates(configuration(), flags, io)),
    );
}
