import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runToEnd } from '../../scripts/steps/child.js';
import { root } from '../../scripts/steps/places.js';

/** The commit used as the previous version. Its last migration is `0001-baseline.sql`. */
export const OLDER = '1e30ca8b';
/** An earlier one, which knows neither groups nor administrators' events: up to `pre-release/0039-policy-data.sql`. */
export const EARLIER = '979baff';

/**
 * @param commit `OLDER` or `EARLIER`
 * @returns a folder with that version, built once in the temporary directory
 */
export async function olderCheckout(commit) {
  const folder = join(tmpdir(), `latchkey-${commit}`);
  if (existsSync(join(folder, 'dist/main.js'))) return folder;
  execFileSync('git', ['clone', '--quiet', '--shared', '--no-checkout', root, folder]);
  execFileSync('git', ['-C', folder, 'checkout', '--quiet', commit]);
  await runToEnd('npm ci', 'npm', ['ci', '--no-audit', '--no-fund'], folder);
  await runToEnd('npm run build', 'npm', ['run', 'build'], folder);
  return folder;
}
