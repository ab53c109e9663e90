/** Options of the `jobs` commands (operations 3.6). */
import { type Command, Option } from 'commander';
import { JOB_STATUSES } from '#platform/jobs/job-listing.ts';
import type { CommandIo, ConfigurationOptions } from './command-io.ts';
import type { ListJobsOptions } from './jobs.ts';
import { limitOption } from './limit-option.ts';

interface RetryFlags {
  readonly allDead: boolean;
  readonly queue?: string;
}

export function addJobsCommands(program: Command, configuration: () => ConfigurationOptions, io: CommandIo): void {
  const jobs = program.command('jobs').description('look at background work, start it again, delete it');
  jobs
    .command('list')
    .description('background work that waits, runs or was given up; with --json one document a line')
    .addOption(new Option('--status <status>', 'what is in this state').choices(JOB_STATUSES))
    .option('--queue <name>', 'what is in this queue')
    .addOption(limitOption())
    .option('--queues', 'print the names of the queues instead whose work comes back by itself', false)
    .action(async (options: ListJobsOptions) => {
      await (await import('./jobs.ts')).listJobs(configuration(), options, io);
    });
  jobs
    .command('show <id>')
    .description('what is known about a job; what might be secret in its payload is left out')
    .action(async (id: string) => (await import('./jobs.ts')).showJob(configuration(), id, io));
  jobs
    .command('retry [id]')
    .description('start a job again that was given up')
    .option('--all-dead', 'all that were given up', false)
    .option('--queue <name>', 'with --all-dead: those of this queue')
    .action(async (id: string | undefined, { allDead, queue }: RetryFlags, command: Command) => {
      if ((id === undefined) !== allDead) command.error('error: name a job, or say --all-dead');
      if (queue !== undefined && !allDead) command.error('error: --queue belongs to --all-dead');
      const { retryAllDead, retryOne } = await import('./jobs.ts');
      if (id === undefined) await retryAllDead(configuration(), { queue }, io);
      else await retryOne(configuration(), id, io);
    });
  jobs
    .command('delete <id>')
    .description('delete a job that does not run; what it was for is not done')
    .action(async (id: string) => (await import('./jobs.ts')).deleteOne(configuration(), id, io));
  jobs
    .command('run <queue>')
    .description('make work due now that comes back by itself, such as a clean-up')
    .action(async (queue: string) => (await import('./jobs.ts')).runQueue(configuration(), queue, io));
}
