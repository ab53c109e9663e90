import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The directory of package.json. */
export const root = fileURLToPath(new URL('../../', import.meta.url));
/** Temporary files until they are renamed into place: on the same file system, and ignored by version control. */
export const workshop = join(root, '.latchkey');
export const dist = join(root, 'dist');
