/**
 * `npm start`: installs and builds what is missing, then runs the program in the same process, so that signals to it,
 * or through npm, reach the server.
 */
import { prepare } from './steps/prepare.js';
import { run } from './steps/run.js';

await run(() => prepare({ withTools: false }));
await import('../dist/main.js');
