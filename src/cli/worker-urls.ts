import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '#platform/base/package-root.ts';

/** The built worker thread that estimates the strength of passwords. */
export function strengthWorkerUrl(): URL {
  return pathToFileURL(join(packageRoot, 'dist/strength.worker.js'));
}
