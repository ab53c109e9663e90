import { LatchkeyError } from '#platform/base/errors.ts';
import { outside } from '#platform/base/tasks.ts';
import type { HashCaller } from '#platform/password-hash/hash-queue.ts';
import { PasswordHasher } from '#platform/password-hash/password-hasher.ts';
import { CHEAP_SCHEME } from './accounts.ts';
import { silentLog } from './silent-log.ts';

/** Never computes a hash: calls wait in the queue until their client disconnects. */
export class WaitingHasher extends PasswordHasher {
  /** Number of waiting callers. */
  count = 0;

  constructor() {
    super({ schemes: [CHEAP_SCHEME], concurrency: 1, queueLength: 1, log: silentLog });
  }

  override hash(_password: string, caller: HashCaller): Promise<never> {
    return this.#wait(caller);
  }

  override verify(_stored: unknown, _password: string, caller: HashCaller): Promise<never> {
    return this.#wait(caller);
  }

  #wait({ signal }: HashCaller): Promise<never> {
    this.count += 1;
    return outside(
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => {
          this.count -= 1;
          reject(new LatchkeyError('overloaded', { description: 'client disconnected', retryAfterSeconds: 5 }));
        });
      }),
    );
  }
}
