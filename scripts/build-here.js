/** Builds in a separate process, so that the bundler does not stay in the memory of the server started next. */
import { build } from './steps/build.js';
import { run } from './steps/run.js';

await run(build);
