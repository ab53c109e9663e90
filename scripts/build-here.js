/** The build as a process of its own: the bundler must not stay in the memory of the server that is started next. */
import { build } from './steps/build.js';
import { run } from './steps/run.js';

await run(build);
