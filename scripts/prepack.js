/**
 * Run by npm before packing: installs and builds what is missing, lists the content of the bundles, and replaces the
 * manifest by the published one. `postpack.js` restores it.
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
