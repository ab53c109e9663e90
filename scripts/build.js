/** `npm run build`: bundles the sources into `dist/`, even if they have not changed. */
import { join } from 'node:path';
import { build } from './steps/build.js';
import { withLock } from './steps/lock.js';
import { workshop } from './steps/places.js';
import { run } from './steps/run.js';

await run(() => withLock(join(workshop, 'lock'), build));
