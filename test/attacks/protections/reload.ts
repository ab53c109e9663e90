/** A reload applies completely or not at all (operations 8.6). */
import type { Protection } from './protection.ts';

const SERVICE = 'test/faults/reload.test.ts';
const UNIT = 'src/app/service/reload.test.ts';

export const RELOAD: readonly Protection[] = [
  {
    name: 'reload-commit-first',
    what: 'new settings apply only after the database has stored their clients and providers',
    attack: 'F-25',
    removals: [{ text: 'await commit();\n    useServing();', instead: 'useServing();\n    await commit();' }],
    test: SERVICE,
    testName: 'the database refuses at its end',
    isBuilt: true,
  },
  {
    name: 'reload-one-transaction',
    what: 'clients and sign-in providers of a configuration are stored together or not at all',
    attack: 'F-25',
    removals: [
      {
        text: 'const changed = await sync(within, false);',
        instead: 'const changed = await sync(database, false);',
      },
    ],
    test: SERVICE,
    testName: 'the database refuses at its end',
    isBuilt: true,
  },
  {
    name: 'reload-log-closed',
    what: 'a failed reload closes the log file that it opened',
    attack: 'F-25',
    removals: [{ text: 'nextLog.discard();' }],
    test: SERVICE,
    testName: 'leaves no file open',
    isBuilt: true,
  },
  {
    name: 'reload-emptied',
    what: 'an emptied file is not a configuration of defaults',
    attack: 'F-25',
    removals: [{ text: 'if (emptied.length > 0)', instead: 'if (emptied.length > 9)' }],
    test: SERVICE,
    testName: 'an empty or missing file',
    isBuilt: true,
  },
  {
    name: 'reload-same-files',
    what: 'a file that disappeared from its usual place is an error',
    attack: 'F-25',
    removals: [{ text: '...(first.files.length > 0 && { files: first.files }),' }],
    test: SERVICE,
    testName: 'an empty or missing file',
    isBuilt: true,
  },
  {
    name: 'reload-while-stopping',
    what: 'a stopping service applies no settings and starts no work from them',
    attack: 'F-25',
    removals: [{ text: "if (this.#isStopping) throw new Error('the service is stopping');" }],
    test: SERVICE,
    testName: 'once the service stops',
    isBuilt: true,
  },
  {
    name: 'reload-whole-file',
    what: 'a file is read twice, to detect partial writes',
    attack: 'F-25',
    removals: [
      {
        text: 'await delay(BETWEEN_READINGS_MS);\n      const next = this.#tryToRead();',
        instead: 'const next = before;',
      },
    ],
    test: UNIT,
    testName: 'F-25',
  },
  {
    name: 'reload-during-start',
    what: 'a signal during the start is not lost: the file may have changed after it was read',
    attack: 'F-25',
    removals: [{ text: 'if (this.#hasHungUp) listener();' }],
    test: 'src/app/service/shutdown.test.ts',
    testName: 'F-25: a SIGHUP during the start takes effect once after it, however many were sent',
  },
  {
    name: 'reload-former-password',
    what: 'a changed database password causes no outage, whether the server has it before or after the reload',
    attack: 'F-11',
    removals: [{ text: 'return await connect(accepted);', instead: 'throw error;' }],
    test: 'test/faults/refused-connections.test.ts',
    testName: 'a password that was changed',
    isBuilt: true,
  },
  {
    name: 'reload-needs-new-password',
    what: 'a reload with a new database password uses it for its own statements',
    attack: 'F-11',
    removals: [{ text: 'return password.replaceWith(next.password.reveal());', instead: 'return () => {};' }],
    test: 'test/faults/refused-connections.test.ts',
    testName: 'a password that was changed',
    isBuilt: true,
  },
  {
    name: 'reload-hash-limits',
    what: 'a changed limit of password checks applies to queued ones',
    attack: 'F-25',
    removals: [{ text: 'this.#limits = limits;\n    this.#startWaiting();', instead: 'void limits;' }],
    test: 'src/platform/password-hash/hash-queue.test.ts',
    testName: 'F-25: new limits apply to waiting work, and running work exceeds them only until it ends',
  },
];
