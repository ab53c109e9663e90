import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runToEnd } from '../../scripts/steps/child.js';
import { root } from '../../scripts/steps/places.js';

/** The commit used as the previous version. Its last migration is `pre-release/0039-policy-data.sql`. */
export const OLDER = '979baff';

/** @returns a folder with that version, built once in the temporary directory */
export async function olderCheckout() {
  const folder = join(tmpdir(), `latchkey-${OLDER}`);
  if (existsSync(join(folder, 'dist/main.js'))) return folder;
  execFileSync('git', ['clone', '--quiet', '--shared', '--no-checkout', root, folder]);
  execFileSync('git', ['-C', folder, 'checkout', '--quiet', OLDER]);
  await runToEnd('npm ci', 'npm', ['ci', '--no-audit', '--no-fund'], folder);
  await runToEnd('npm run build', 'npm', ['run', 'build'], folder);
  return folder;
}
