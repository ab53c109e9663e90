import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isBuilt } from './build.js';
import { runToEnd } from './child.js';
import { install, isInstalled } from './install.js';
import { withLock } from './lock.js';
import { root, workshop } from './places.js';

/**
 * Installs and builds only what is missing. A directory without sources (the published package) is ready as it is.
 * @param options `withTools`: also what only tests and checks need; `withBuild`: false installs only
 */
export async function prepare({ withTools, withBuild = true }) {
  const isReady = () => isInstalled({ withTools }) && (!withBuild || isBuilt());
  // Checked without the lock first: a directory that is ready may be read-only.
  if (!existsSync(join(root, 'src')) || isReady()) return;
  await withLock(join(workshop, 'lock'), async () => {
    removeUnfinished();
    if (!isInstalled({ withTools })) await install({ withTools });
    if (withBuild && !isBuilt())
      await runToEnd('the build', process.execPath, [join(root, 'scripts/build-here.js')], root);
  });
}

/** Removes leftovers of killed processes. While the lock is held, they are not in use. */
function removeUnfinished() {
  for (const name of readdirSync(workshop)) {
    if (/^(?:install|build|old-modules)-\d+$/.test(name))
      rmSync(join(workshop, name), { recursive: true, force: true });
  }
}
