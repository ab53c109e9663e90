/** Keeps the service working while its database, or the network to it, is not (security 5.2). */
import type { Protection } from './protection.ts';

const LOSS = 'src/platform/postgres/connection-loss.test.ts';

export const DATABASE: readonly Protection[] = [
  {
    name: 'database-silence',
    what: 'an unresponsive connection causes all others to the server to be dropped, even in transactions',
    attack: 'F-08',
    removals: [{ text: 'for (const pool of this.#pools) pool.set.distrustAll();' }],
    test: LOSS,
    testName: 'behind silently dropped connections: one without a response gives up all of them (F-08)',
  },
  {
    name: 'database-keep-alive',
    what: 'a silently dropped idle connection is detected before it is needed',
    attack: 'F-08',
    removals: [{ text: '    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,\n' }],
    test: LOSS,
    testName: 'behind an idle connection: keepalive probes it within ten seconds (F-08)',
  },
  {
    name: 'database-aged-connections',
    what: 'an old connection is kept while no new one can be opened',
    attack: 'F-20',
    removals: [
      {
        text: 'if (this.#connections.size >= this.#options.max) connection.retire();\n        else this.grow();',
        instead: 'connection.retire();\n        this.grow();',
      },
    ],
    test: 'src/platform/postgres/pools.test.ts',
    testName: 'beyond their lifetime stay while no replacement can be opened',
  },
  {
    name: 'database-full-of-aged-connections',
    what: 'old connections are closed one at a time while no new one can be opened',
    attack: 'F-20',
    removals: [{ text: '        mayReplace = false;\n' }],
    test: 'src/platform/postgres/pools.test.ts',
    testName: 'beyond their lifetime stay while no replacement can be opened',
  },
  {
    name: 'database-backlog',
    what: 'a slow server receives no statements whose callers have given up',
    attack: 'F-09',
    removals: [{ text: '      if (connection.isCongested) continue;\n' }],
    test: 'src/platform/postgres/pools.test.ts',
    testName: 'gets no more than it answers: callers wait for a limited time, and no work remains afterwards',
  },
  {
    name: 'database-pace',
    what: 'a connection receives only as many statements as it can process within two seconds at its current speed',
    attack: 'F-09',
    removals: [{ text: 'this.inFlight * this.#statementMs > MAX_WORK_MS || ' }],
    test: 'src/platform/postgres/pools.test.ts',
    testName: 'gets as many statements at once as it answers within two seconds',
  },
  {
    name: 'too-late-to-commit',
    what: 'a request that timed out with 503 makes no later changes',
    attack: 'F-09',
    removals: [{ text: '    exchange.task.isOver = true;\n' }],
    test: 'test/faults/time-limit.test.ts',
    testName: 'is rolled back when its request was answered 503',
  },
  {
    name: 'too-late-to-send',
    what: 'no statements are sent for a request that timed out',
    attack: 'F-09',
    removals: [{ text: '      if (task?.isOver === true) {', instead: '      if (task === null) {' }],
    test: 'src/platform/postgres/transactions.test.ts',
    testName: 'of a request that timed out is not sent, except to release something',
  },
  {
    name: 'too-late-to-join',
    what: 'the same for look-ups that are sent together',
    attack: 'F-09',
    removals: [{ text: '  if (task?.isOver !== true) return true;', instead: '  if (task !== null) return true;' }],
    test: 'src/platform/postgres/joined-statements.test.ts',
    testName: 'look-ups of requests whose time is over are not sent',
  },
  {
    name: 'refresh-overtaken',
    what: 'a refresh that was delayed while its client continued is not treated as theft',
    attack: 'F-09',
    removals: [
      {
        text: "return happenedAfter(row.successor_consumed_at, now) ? refuse('overtaken') : { kind: 'reuse' };",
        instead: "return { kind: 'reuse' };",
      },
    ],
    test: 'src/domain/oauth-sessions/refresh.test.ts',
    testName: 'a request that waited while its client continued is rejected and ends nothing',
  },
  {
    name: 'client-recalled',
    what: 'not all requests of a client wait while it is reloaded',
    attack: 'F-09',
    removals: [{ text: 'const RECALLED_MS = 10 * KNOWN_MS;', instead: 'const RECALLED_MS = KNOWN_MS;' }],
    test: 'src/features/token/client-authentication.test.ts',
    testName: 'takes no query for a client cached over a minute ago, but reloads it; stale data causes no rejection',
  },
  {
    name: 'database-lock-repeated',
    what: 'a transaction that could not acquire a lock is retried if that is safe',
    attack: 'F-10',
    removals: [
      {
        text: 'isConflict(error) || isLocked || isStalePlan(error)',
        instead: 'isConflict(error) || isStalePlan(error)',
      },
    ],
    test: 'test/faults/conflicts.test.ts',
    testName: 'twice: $name is retried and takes effect once',
  },
  {
    name: 'dump-spelling-of-dates',
    what: 'a backup uses one date format, regardless of database settings',
    attack: 'F-14',
    removals: [
      { text: "set local datestyle = 'ISO'; set local intervalstyle = 'postgres';\n  set local timezone = 'UTC'; " },
    ],
    test: 'src/cli/backup.test.ts',
    testName: "F-14: does not depend on the database's time zone and date style",
  },
];
