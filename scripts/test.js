/** `npm test`: installs everything, builds, and runs the tests. Arguments are passed to vitest. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './steps/places.js';
import { prepare } from './steps/prepare.js';
import { run } from './steps/run.js';

await run(() => prepare({ withTools: true }));
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
process.argv = [process.execPath, vitest, 'run', ...process.argv.slice(2)];
await import(pathToFileURL(vitest).href);
