import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root } from '../steps/places.js';
import { writeTar } from './archive-files.js';

/** The stage of `packaging/Containerfile` that builds the package, until the next stage. */
const PACKAGE_STAGE = /^FROM \$\{NODE_IMAGE\} AS package\n(?:.+\n)*/m;

/**
 * Writes the context for container engines: the package and `packaging/Containerfile`, which takes the package from the
 * context instead of building it. It builds for every platform of its base image.
 */
export function writeImageContext(path, { place, archive, epoch }) {
  const folder = join(place, 'context');
  mkdirSync(folder, { recursive: true });
  const text = readFileSync(join(root, 'packaging/Containerfile'), 'utf8');
  if (!PACKAGE_STAGE.test(text)) throw new Error('packaging/Containerfile has no stage `package`');
  const taken = `FROM scratch AS package\nCOPY ${basename(archive)} /tmp/\n`;
  writeFileSync(join(folder, 'Containerfile'), text.replace(PACKAGE_STAGE, taken));
  cpSync(archive, join(folder, basename(archive)));
  writeTar(path, { from: folder, epoch });
}
