/** npm runs this after it packed: brings back the manifest that `prepack.js` replaced. */
import { restoreManifest } from './steps/manifest.js';
import { run } from './steps/run.js';

await run(restoreManifest);
