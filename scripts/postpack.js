/** Run by npm after packing: restores the manifest that `prepack.js` replaced. */
import { restoreManifest } from './steps/manifest.js';
import { run } from './steps/run.js';

await run(restoreManifest);
