/** `npm test`: installs everything, builds, and runs the tests. Arguments are passed to vitest. */
import { prepare } from './steps/prepare.js';
import { run } from './steps/run.js';
import { runVitest } from './steps/vitest.js';

const args = process.argv.slice(2);
// Someone who selects tests waits for them: `global-setup.ts` then builds while the database starts.
const isSelection = args.some((arg) => !arg.startsWith('-'));
await run(() => prepare({ withTools: true, withBuild: !isSelection }));
if (isSelection) process.env.LATCHKEY_TEST_BUILD = 'yes';
await runVitest('run', ...args);
