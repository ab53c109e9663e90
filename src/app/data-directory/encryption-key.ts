import { join } from 'node:path';
import { ExitError } from '#platform/base/errors.ts';
import { randomBytes } from '#platform/base/random.ts';
import { readIfThere, writeOnce } from './write-once.ts';

const FILE = 'encryption.key';
const KEY = /^[0-9a-f]{64}$/;

/** Whether the root key was generated before: if not, and the database holds sealed rows, it was lost. */
export async function hasEncryptionKey(dataDir: string): Promise<boolean> {
  return (await readIfThere(join(dataDir, FILE))) !== undefined;
}

/**
 * The generated value of `secrets.encryption`, 64 hexadecimal characters.
 * @throws ExitError 78 when the file holds something else; it is never replaced, since rows are sealed under it
 */
export async function readOrMakeEncryptionKey(dataDir: string): Promise<string> {
  const path = join(dataDir, FILE);
  const known = await readIfThere(path);
  if (known !== undefined) return checked(path, known);
  const made = randomBytes(32).toString('hex');
  if (await writeOnce(path, `${made}\n`)) return made;
  return checked(path, (await readIfThere(path)) ?? '');
}

function checked(path: string, text: string): string {
  const key = text.trim();
  if (KEY.test(key)) return key;
  throw new ExitError(78, `${path} does not hold 64 hexadecimal characters; put the right file back`);
}
