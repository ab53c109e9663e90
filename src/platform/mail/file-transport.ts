import { mkdir, open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#platform/base/clock.ts';
import { isErrno, systemReason } from '#platform/base/system-errors.ts';
import { outside } from '#platform/base/tasks.ts';
import type { MailOutcome, MailTransport, Message } from './mail.ts';

export interface FileOptions {
  /** Created if it does not exist. */
  readonly directory: string;
  readonly clock: Clock;
}

const SUFFIX = '.eml';
const KEPT_MS = 7 * 86_400_000;
const CLEAN_UP_MS = 3_600_000;

/**
 * Writes emails to a directory, for evaluation and tests. Only their owner can read them, and they are deleted after a
 * week.
 */
export class FileTransport implements MailTransport {
  readonly newline = 'win';
  readonly #options: FileOptions;
  #cleanUp: NodeJS.Timeout | undefined;

  constructor(options: FileOptions) {
    this.#options = options;
  }

  async send({ id, content }: Message): Promise<MailOutcome> {
    try {
      await outside(this.#write(id, content));
      return { kind: 'sent' };
    } catch (error) {
      return { kind: 'retry', reason: `the email could not be written: ${systemReason(error)}` };
    }
  }

  async test(): Promise<string | undefined> {
    this.#cleanUp ??= setInterval(() => void this.#removeOld().catch(() => undefined), CLEAN_UP_MS).unref();
    try {
      await outside(this.#removeOld());
      return undefined;
    } catch (error) {
      return `emails cannot be written: ${systemReason(error)}`;
    }
  }

  /** Renames the file to its final name when it is complete. A retry replaces the first attempt. */
  async #write(id: string, content: Buffer): Promise<void> {
    await outside(this.#prepare());
    const path = join(this.#options.directory, `${id}${SUFFIX}`);
    const file = await outside(open(`${path}.part`, 'w', 0o600));
    try {
      await outside(file.writeFile(content));
      await outside(file.sync());
    } finally {
      await outside(file.close());
    }
    await outside(rename(`${path}.part`, path));
  }

  async #prepare(): Promise<void> {
    await outside(mkdir(this.#options.directory, { recursive: true, mode: 0o700 }));
  }

  async #removeOld(): Promise<void> {
    const { clock, directory } = this.#options;
    await this.#prepare();
    for (const name of await outside(readdir(directory))) {
      if (!name.endsWith(SUFFIX)) continue;
      const path = join(directory, name);
      try {
        const { mtimeMs } = await outside(stat(path));
        if (mtimeMs < clock.now() - KEPT_MS) await outside(unlink(path));
      } catch (error) {
        // Another process or user deleted it.
        if (!isErrno(error, 'ENOENT')) throw error;
      }
    }
  }
}
