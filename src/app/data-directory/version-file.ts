import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfThere, writePrepared } from './write-once.ts';

/** Notes which version last wrote the directory, for whoever has to repair or downgrade it. */
export async function writeVersion(dataDir: string, version: string): Promise<void> {
  const path = join(dataDir, 'VERSION');
  if ((await readIfThere(path)) === `${version}\n`) return;
  await rename(await writePrepared(path, `${version}\n`), path);
}
