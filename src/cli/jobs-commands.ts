/** Options of the `jobs` commands (operations 3.6). */
import { type Command, Option } from 'commander';
import { JOB_STATUSES } from '#platform/jobs/job-listing.ts';
import type { CommandIo, CommandOptions } from './command-io.ts';
import type { ListJobsOptions } from './jobs.ts';
import { limitOption } from './limit-option.ts';

interface RetryFlags {
  readonly allDead: boolean;
  readonly queue?: string;
}

export function addJobsCommands(program: Command, configuration: () => CommandOptions, io: CommandIo): void {
  const jobs = program.command('jobs').description('list, retry and delete background jobs');
  jobs
    .command('list')
    .description('list waiting, running and dead jobs; with --json one document per line')
    .addOption(new Option('--status <status>', 'only jobs in this state').choices(JOB_STATUSES))
    .option('--queue <name>', 'only jobs in this queue')
    .addOption(limitOption())
    .option('--queues', 'print the names of the queues with recurring jobs instead', false)
    .action(async (options: ListJobsOptions) => {
      await (await import('./jobs.ts')).listJobs(configuration(), options, io);
    });
  jobs
    .command('show <id>')
    .description('show a job; possible secrets in its payload are left out')
    .action(async (id: string) => (await import('./jobs.ts')).showJob(configuration(), id, io));
  jobs
    .command('retry [id]')
    .description('retry a dead job')
    .option('--all-dead', 'all dead jobs', false)
    .option('--queue <name>', 'with --all-dead: those of this queue')
    .action(async (id: string | undefined, { allDead, queue }: RetryFlags, command: Command) => {
      if ((id === undefined) !== allDead) command.error('error: expected a job id or --all-dead');
      if (queue !== undefined && !allDead) command.error('error: --queue requires --all-dead');
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
    .description('run a recurring job now, for example a cleanup')
    .action(async (queue: string) => (await import('./jobs.ts')).runQueue(configuration(), queue, io));
}
