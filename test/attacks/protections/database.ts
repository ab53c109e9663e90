/** What keeps the service well while its database, or the network to it, is not (security 5.2). */
import type { Protection } from './protection.ts';

const LOSS = 'src/platform/postgres/connection-loss.test.ts';

export const DATABASE: readonly Protection[] = [
  {
    name: 'database-silence',
    what: 'a connection without an answer has all others to the server given up, those of transactions too',
    attack: 'F-08',
    removals: [{ text: 'for (const pool of this.#pools) pool.set.distrustAll();' }],
    test: LOSS,
    testName: 'one without an answer gives all of them up',
  },
  {
    name: 'database-keep-alive',
    what: 'an idle connection that was forgotten on the way is noticed before somebody needs it',
    attack: 'F-08',
    removals: [{ text: '    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,\n' }],
    test: LOSS,
    testName: 'the system asks within ten seconds whether it is still there',
  },
];
