import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of package.json. */
export const root = fileURLToPath(new URL('../../', import.meta.url));
/** Where unfinished work is kept until it is renamed into place; on the same file system, and not in version control. */
export const workshop = join(root, '.latchkey');
export const dist = join(root, 'dist');
