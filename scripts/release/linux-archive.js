import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root } from '../steps/places.js';
import { writeTar } from './archive-files.js';
import { writeLaunchers } from './launcher.js';

/**
 * Writes the archive for Linux with the application and its Node.js: unpack it anywhere and run `bin/latchkey`.
 * @param parts `application`, `node`: prepared directories, which the archive's directory takes over
 */
export function writeLinuxArchive(path, { application, node, epoch }) {
  const name = basename(path, '.tar.gz');
  const place = `${application}.archive`;
  const folder = join(place, name);
  mkdirSync(folder, { recursive: true });
  cpSync(application, join(folder, 'app'), { recursive: true, verbatimSymlinks: true });
  cpSync(node, join(folder, 'node'), { recursive: true });
  for (const file of ['LICENSE', 'README.md']) cpSync(join(root, file), join(folder, file));
  cpSync(join(root, 'packaging/latchkey.service'), join(folder, 'latchkey.service'));
  writeLaunchers(join(folder, 'bin'), {
    findHome: ['home=$(dirname "$(dirname "$(readlink -f "$0")")")'],
    node: '"$home/node/bin/node"',
    main: '"$home/app/dist/main.js"',
  });
  writeTar(path, { from: place, members: [name], epoch });
  rmSync(place, { recursive: true });
}
