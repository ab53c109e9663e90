/** Guarantees of the job queue (operations 6.1, 6.2). */
import type { Protection } from './protection.ts';

export const QUEUE: readonly Protection[] = [
  {
    name: 'queue-taken-once',
    what: 'a job is locked by the process that takes it',
    attack: 'O-05',
    removals: [
      {
        text: '     order by due_at limit :room::integer\n       for update skip locked',
        instead: '     order by due_at limit :room::integer',
      },
    ],
    test: 'src/platform/jobs/worker.test.ts',
    testName: 'each job runs on one of them',
  },
  {
    name: 'queue-room',
    what: 'a process takes five jobs at a time, within its capacity',
    attack: 'O-11',
    removals: [
      {
        text: 'Math.min(MAX_TAKEN, concurrency - this.#running.size)',
        instead: 'Math.max(MAX_TAKEN, concurrency - this.#running.size)',
      },
    ],
    test: 'src/platform/jobs/worker.test.ts',
    testName: 'a process takes five jobs of a backlog, or as many as it has slots, and leaves the rest to others',
  },
  {
    name: 'queue-end-stored',
    what: 'the completion of a job is stored a second time if the database failed, so that emails are not sent twice',
    attack: 'F-09',
    removals: [{ text: 'if (this.#isStopping || pauseMs > MAX_PAUSE_MS) throw error;', instead: 'throw error;' }],
    test: 'src/platform/jobs/worker.test.ts',
    testName: 'F-09: a completion that the database did not store is stored later, and the job does not run again',
  },
  {
    name: 'queue-backlog',
    what: 'a job that waits for capacity starts as soon as there is some',
    attack: 'F-24',
    removals: [{ text: '      this.#pollAgain();\n', instead: '' }],
    test: 'src/platform/jobs/worker.test.ts',
    testName: 'a backlog does not wait for the next interval',
  },
  {
    name: 'queue-waiting-job-held',
    what: 'a queued job replaces a new one, and is held until that is committed',
    attack: 'O-05',
    removals: [
      { text: 'do update set payload = excluded.payload, created_at = excluded.created_at`', instead: 'do nothing`' },
    ],
    test: 'src/platform/jobs/worker.test.ts',
    testName: 'a waiting job does not start before a transaction that relies on it is committed',
  },
  {
    name: 'queue-lease',
    what: 'the job of a dead process is due after a minute',
    attack: 'O-05',
    removals: [
      {
        text: 'set worker = :worker::uuid, due_at = :leaseUntil::timestamptz,',
        instead: "set worker = :worker::uuid, due_at = :leaseUntil::timestamptz + interval '10 minutes',",
      },
    ],
    test: 'src/platform/jobs/worker.test.ts',
    testName: 'jobs of a dead process are taken over within two minutes, and a live one keeps its own',
  },
  {
    name: 'queue-lease-prolonged',
    what: 'a process keeps the lease of its running job',
    attack: 'O-05',
    removals: [
      {
        text: 'update queue_jobs set due_at = :leaseUntil::timestamptz\n',
        instead: 'update queue_jobs set due_at = least(due_at, :leaseUntil::timestamptz)\n',
      },
    ],
    test: 'src/platform/jobs/worker.test.ts',
    testName: 'jobs of a dead process are taken over within two minutes, and a live one keeps its own',
  },
  {
    name: 'queue-own-jobs',
    what: 'a process that lost its job does not change it',
    attack: 'O-05',
    removals: [
      {
        text: '          payload = coalesce(:payload::jsonb, payload)\n    where id = :id::uuid and worker = :worker::uuid',
        instead:
          '          payload = coalesce(:payload::jsonb, payload)\n    where id = :id::uuid and :worker::uuid is not null',
      },
    ],
    test: 'src/platform/jobs/worker.test.ts',
    testName: 'a paused process that lost its job is notified and changes nothing more',
  },
  {
    name: 'queue-growing-delays',
    what: 'each retry waits twice as long as the previous one',
    attack: 'O-05',
    removals: [
      {
        text: 'FIRST_RETRY_SECONDS * 2 ** (attempt - 1) * spread',
        instead: 'FIRST_RETRY_SECONDS * spread * Math.sign(attempt)',
      },
    ],
    test: 'src/platform/jobs/worker.test.ts',
    testName: 'retries after 5, 10, 20 s with 20% jitter',
  },
  {
    name: 'queue-jitter',
    what: 'retries of jobs that failed together are spread out',
    attack: 'O-05',
    removals: [{ text: 'const spread = randomInt(80, 121) / 100;', instead: 'const spread = 1;' }],
    test: 'src/platform/jobs/worker.test.ts',
    testName: 'jobs that failed together are not retried together',
  },
  {
    name: 'queue-retry-after',
    what: 'a retry waits as long as the remote server requests',
    attack: 'O-05',
    removals: [
      {
        text: 'return Math.max(delay, Math.min(requestedSeconds ?? 0, MAX_RETRY_AFTER_SECONDS));',
        instead: 'return Math.max(delay, Math.min(requestedSeconds ?? 0, delay));',
      },
    ],
    test: 'src/platform/jobs/worker.test.ts',
    testName: 'does not retry earlier than the other side requests, up to an hour',
  },
  {
    name: 'queue-retry-after-bound',
    what: 'the remote server cannot delay a job for more than an hour',
    attack: 'O-11',
    removals: [
      {
        text: 'return Math.max(delay, Math.min(requestedSeconds ?? 0, MAX_RETRY_AFTER_SECONDS));',
        instead: 'return Math.max(delay, requestedSeconds ?? 0);',
      },
    ],
    test: 'src/platform/jobs/worker.test.ts',
    testName: 'does not retry earlier than the other side requests, up to an hour',
  },
  {
    name: 'queue-dead-letters',
    what: 'a job is retried a limited number of times, then kept as dead',
    attack: 'O-05',
    removals: [
      {
        text: "if (outcome.kind === 'retry' && this.mayRetry(row, queue)) {",
        instead: "if (outcome.kind === 'retry') {",
      },
    ],
    test: 'src/platform/jobs/worker.test.ts',
    testName: 'after the last retry a job is dead: kept with its reason, not run again, deleted later',
  },
  {
    name: 'queue-crashes-count',
    what: 'a job whose process dies each time ends up dead',
    attack: 'F-24',
    removals: [
      {
        text: "    if (row.attempt > this.#options.maxRetries + 1 && !this.#settlement.mayRetry(row, queue))\n      return { kind: 'failed', reason: 'the process exited during every run' };\n",
      },
    ],
    test: 'src/platform/jobs/worker.test.ts',
    testName: 'a job whose process dies each time is dead eventually',
  },
  {
    name: 'queue-time-limit',
    what: 'a hanging job is aborted',
    attack: 'F-24',
    removals: [
      { text: `resumeTask(task, () => aborting.abort(new Error(\`took longer than \${queue.timeLimitSeconds} s\`)));` },
    ],
    test: 'src/platform/jobs/worker.test.ts',
    testName: 'a job that never ends is aborted at its time limit and retried; others continue (security F-24)',
  },
  {
    name: 'queue-any-reason',
    what: 'a job becomes dead regardless of its error',
    attack: 'F-24',
    removals: [{ text: "Buffer.from(reason.replaceAll('\\0', ' '))", instead: 'Buffer.from(reason)' }],
    test: 'src/platform/jobs/worker.test.ts',
    testName: 'a reason that the database cannot store does not keep a job from being dead',
  },
  {
    name: 'queue-hourly-once',
    what: 'an hourly job is one row, regardless of the number of instances',
    attack: 'O-05',
    removals: [
      { text: `.update(\`hourly:\${queue}\`)`, instead: `.update(\`hourly:\${queue}:\${performance.now()}\`)` },
    ],
    test: 'src/platform/jobs/periodic-jobs.test.ts',
    testName: 'run once at their minute, on any number of instances',
  },
  {
    name: 'queue-unknown-jobs-wait',
    what: 'jobs of another version wait for it for a day',
    attack: 'O-09',
    removals: [{ text: 'const UNCLAIMED_MS = 24 * 3_600_000;', instead: 'const UNCLAIMED_MS = 3_600_000;' }],
    test: 'src/platform/jobs/unknown-jobs.test.ts',
    testName: 'are left to newer versions for a day, then marked dead with one log line',
  },
  {
    name: 'queue-known-jobs-wait',
    what: 'only unclaimed jobs of unknown queues are given up',
    attack: 'O-05',
    removals: [{ text: 'and queue <> all (:known::text[])', instead: 'and :known::text[] is not null' }],
    test: 'src/platform/jobs/unknown-jobs.test.ts',
    testName: 'a job of a known queue may wait for days',
  },
  {
    name: 'queue-hourly-revived',
    what: 'a dead hourly job is rescheduled',
    attack: 'O-09',
    removals: [
      {
        text: 'set due_at = excluded.due_at, attempt = 0, worker = null, failed_at = null, failed_reason = null\n     where queue_jobs.failed_at is not null',
        instead: 'set due_at = excluded.due_at\n     where false',
      },
    ],
    test: 'src/platform/jobs/unknown-jobs.test.ts',
    testName: 'hourly jobs that died this way restart with the version that knows them',
  },
  {
    name: 'queue-late-mails',
    what: 'no emails are promised while the email queue is delayed',
    attack: 'O-11',
    removals: [
      {
        text: 'if (state.areMailsLate) throw new LatchkeyError(',
        instead: 'if (state.areMailsLate && false) throw new LatchkeyError(',
      },
    ],
    test: 'src/features/recovery/recovery.test.ts',
    testName: 'while mails are delayed by more than ten minutes',
  },
  {
    name: 'queue-watched',
    what: 'an instance detects a delayed email queue',
    attack: 'O-11',
    removals: [{ text: 'state.areMailsLate = isLate;' }],
    test: 'src/app/service/watch-database.test.ts',
    testName: 'a job that was due ten minutes ago',
  },
  {
    name: 'clock-requests',
    what: 'an instance with a doubtful clock rejects time-dependent requests',
    attack: 'F-15',
    removals: [
      {
        text: 'isClockIndependent === true || instance.isClockRight(),',
        instead: 'isClockIndependent === true || true,',
      },
    ],
    test: 'test/faults/clocks.test.ts',
    testName: 'F-15: by 10 minutes',
  },
  {
    name: 'clock-jobs',
    what: 'an instance with a doubtful clock takes no jobs',
    attack: 'F-14',
    removals: [{ text: 'return () => instance.isClockRight();', instead: 'return () => instance.isStarted;' }],
    test: 'test/faults/clocks.test.ts',
    testName: 'it stops judging and deleting from that moment',
  },
  {
    name: 'clock-jobs-of-later',
    what: 'jobs written while the clock was ahead do not wait until that time',
    attack: 'F-14',
    removals: [{ text: '      and (created_at > :leaseUntil::timestamptz', instead: '      and false and (false' }],
    test: 'src/platform/jobs/worker.test.ts',
    testName: 'F-14: a job written while the clock was ahead runs within two minutes after the clock was set back',
  },
  {
    name: 'clock-jobs-taken-later',
    what: 'a job whose process died while the clock was ahead does not wait until that time',
    attack: 'F-14',
    removals: [
      {
        text: '        or (worker is not null and due_at',
        instead: '        or (false and due_at',
      },
    ],
    test: 'src/platform/jobs/worker.test.ts',
    testName: 'F-14: the job of a process that died',
  },
  {
    name: 'clock-leases-of-later',
    what: 'a lease taken while the clock was ahead does not last until that time',
    attack: 'F-14',
    removals: [{ text: " or ${lease}.expires_at > ${now} + interval '2 minutes')", instead: ')' }],
    test: 'src/domain/homeserver/user-lease.test.ts',
    testName: 'F-14: taken while the clock was ahead does not last until that time once it was set back',
  },
  {
    name: 'clock-exports-of-later',
    what: 'an export made while the clock was ahead does not block others until that time',
    attack: 'F-14',
    removals: [{ text: "       and e.created_at <= :now::timestamptz + interval '1 minute'\n" }],
    test: 'src/features/data-export/data-export.test.ts',
    testName: 'F-14: works after one that was started while the clock was ahead',
  },
  {
    name: 'clock-late-queue',
    what: 'a clock set ahead does not make forms reject emails as if jobs were late',
    attack: 'F-14',
    removals: [{ text: 'if (milliseconds > 0) this.#judgesQueueFrom = this.#monotonic() + INTERVAL_MS;' }],
    test: 'src/app/service/watch-database.test.ts',
    testName:
      'F-14: jobs that are late only because the clock was set ahead count as late after a minute at the earliest',
  },
  {
    name: 'clock-of-database',
    what: 'an instance serves immediately once the clock of the database is correct',
    attack: 'F-14',
    removals: [{ text: '!this.#clocksAgree || this.#setCount !==', instead: 'this.#setCount !==' }],
    test: 'src/app/service/watch-database.test.ts',
    testName: 'F-14: a corrected database clock is noticed immediately, and the earlier error is logged once',
  },
  {
    name: 'clock-used-tokens',
    what: 'what was used in a future that the clock was set back from is not treated as a repeated request',
    attack: 'F-14',
    removals: [{ text: 'return age <= withinMs && age >= -MAX_DIFFERENCE_MS;', instead: 'return age <= withinMs;' }],
    test: 'test/faults/clocks.test.ts',
    testName: 'F-14: back by an hour',
  },
  {
    name: 'clock-buckets-of-later',
    what: 'rate limits reached while the clock was ahead do not last until that time',
    attack: 'F-14',
    removals: [
      {
        text: "return `${bucket}.tat > ${now} + ${interval} * ${burst} + interval '1 minute'`;",
        instead: 'return `${bucket}.tat > ${now} + ${interval} * ${burst} and false`;',
      },
    ],
    test: 'src/domain/limits/rate-limits.test.ts',
    testName: 'F-14: a bucket emptied while the clock was ahead is full once it was set back',
  },
  {
    name: 'clock-steps',
    what: 'a changed clock is not trusted before it is compared',
    attack: 'F-14',
    removals: [{ text: 'this.#clocksAgree && this.#setCount === this.#comparedCount', instead: 'this.#clocksAgree' }],
    test: 'test/faults/clocks.test.ts',
    testName: 'it stops judging and deleting from that moment',
  },
  {
    name: 'clock-under-way',
    what: 'operations in progress when a clock is set continue with the previous time',
    attack: 'F-14',
    removals: [{ text: 'if (isStep(now - steady - this.#offset)) return Math.round(steady + this.#offset);' }],
    test: 'test/faults/clocks.test.ts',
    testName: 'work in progress is judged',
  },
  {
    name: 'clock-accepted',
    what: 'operations in progress do not use a clock that was set wrong',
    attack: 'F-14',
    removals: [{ text: 'if (agree && setCount', instead: 'if (setCount' }],
    test: 'test/faults/clocks.test.ts',
    testName: 'work in progress is judged',
  },
  {
    name: 'clock-set-while-compared',
    what: 'a clock that is set during a comparison is compared once more',
    attack: 'F-14',
    removals: [{ text: 'if (agree && setCount === this.#setCount) clock', instead: 'if (agree) clock' }],
    test: 'src/app/service/watch-database.test.ts',
    testName: 'F-14: a clock changed during the comparison is not used',
  },
];
