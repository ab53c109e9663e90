import { readFile } from 'node:fs/promises';
import { ExitError } from '#platform/base/errors.ts';
import { describeError } from '#platform/base/log.ts';

/** Who `LATCHKEY_ADMIN_USERNAME` asks to create (operations 2.4). */
export interface RequestedAdmin {
  readonly username: string;
  readonly password: string;
}

/** @throws ExitError 78 when the variables contradict one another or the password file cannot be read */
export async function readFirstAdmin(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<RequestedAdmin | undefined> {
  const username = environment['LATCHKEY_ADMIN_USERNAME'];
  const password = environment['LATCHKEY_ADMIN_PASSWORD'];
  const file = environment['LATCHKEY_ADMIN_PASSWORD_FILE'];
  if (username === undefined || username === '') return undefined;
  if (password !== undefined && file !== undefined) {
    throw new ExitError(78, 'LATCHKEY_ADMIN_PASSWORD and LATCHKEY_ADMIN_PASSWORD_FILE are both set; set one');
  }
  if (password !== undefined) return { username, password };
  if (file === undefined) {
    throw new ExitError(
      78,
      'LATCHKEY_ADMIN_USERNAME needs LATCHKEY_ADMIN_PASSWORD or LATCHKEY_ADMIN_PASSWORD_FILE beside it',
    );
  }
  try {
    return { username, password: (await readFile(file, 'utf8')).replace(/\r?\n$/, '') };
  } catch (error) {
    throw new ExitError(78, `LATCHKEY_ADMIN_PASSWORD_FILE: ${describeError(error).message}`, { cause: error });
  }
}
