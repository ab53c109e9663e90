/**
 * npm runs this before it packs: installs and builds what is missing, lists what the bundles hold, and puts the manifest
 * of the package in place of ours, which `postpack.js` brings back.
 */
import { writeNotices, writeSbom } from './steps/contents.js';
import { publishManifest, restoreManifest } from './steps/manifest.js';
import { prepare } from './steps/prepare.js';
import { run } from './steps/run.js';

await run(async () => {
  restoreManifest();
  await prepare({ withTools: false });
  writeNotices();
  writeSbom();
  publishManifest();
});
