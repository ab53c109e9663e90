import { describeError, type Log } from '#platform/base/log.ts';
import { argon2id } from './argon2id.ts';
import { bcrypt } from './bcrypt.ts';
import { type HashCaller, HashQueue } from './hash-queue.ts';
import { pbkdf2 } from './pbkdf2.ts';
import type { PasswordHashing, PasswordScheme, StoredHash } from './schemes.ts';

export type { HashCaller } from './hash-queue.ts';
export type { PasswordScheme, StoredHash } from './schemes.ts';

export interface PasswordHasherOptions {
  /** At least one, with distinct versions. */
  readonly schemes: readonly PasswordScheme[];
  /** Hashes computed at once; the thread pool of the process (`UV_THREADPOOL_SIZE`) must be larger. */
  readonly concurrency: number;
  readonly queueLength: number;
  readonly log: Log;
  /** Milliseconds; 10 s unless a test says otherwise. */
  readonly longestWaitMs?: number;
}

export type Verification =
  | { readonly isRight: false }
  /** `isOutdated`: made by an older scheme, or with other costs than the newest one has now. */
  | { readonly isRight: true; readonly isOutdated: boolean };

const MAX_WAIT_MS = 10_000;

/**
 * Hashes and checks passwords off the main thread, behind one bounded queue. Both throw `overloaded` when the queue
 * is full, the wait too long, or the client gone.
 */
export class PasswordHasher {
  readonly #hashings: ReadonlyMap<number, PasswordHashing>;
  readonly #newest: PasswordHashing;
  readonly #newestVersion: number;
  readonly #queue: HashQueue;
  readonly #log: Log;

  constructor(options: PasswordHasherOptions) {
    const newest = newestOf(options.schemes);
    this.#hashings = new Map(options.schemes.map((scheme) => [scheme.version, hashingOf(scheme)]));
    this.#newest = hashingOf(newest);
    this.#newestVersion = newest.version;
    this.#queue = new HashQueue({
      concurrency: options.concurrency,
      length: options.queueLength,
      longestWaitMs: options.longestWaitMs ?? MAX_WAIT_MS,
    });
    this.#log = options.log;
  }

  /** Callers that wait for their turn, for metrics. */
  get waiting(): number {
    return this.#queue.waiting;
  }

  /** A hash by the newest scheme; undefined when the password is too long for it (bcrypt only). */
  async hash(password: string, caller: HashCaller): Promise<StoredHash | undefined> {
    const hash = await this.#queue.run(() => this.#newest.hash(password), caller);
    return hash === undefined ? undefined : { hash, schemeVersion: this.#newestVersion };
  }

  /**
   * Checks a password. Without a stored hash, or with one that cannot be checked, it does the same work for nothing
   * and answers that the password is wrong, so that the time tells nobody which accounts exist.
   */
  async verify(stored: StoredHash | undefined, password: string, caller: HashCaller): Promise<Verification> {
    const hashing = stored === undefined ? undefined : this.#hashings.get(stored.schemeVersion);
    if (stored !== undefined && hashing === undefined) {
      this.#log.error('error', `password scheme version ${stored.schemeVersion} is not configured`);
    }
    if (stored === undefined || hashing === undefined) {
      await this.#queue.run(() => this.#newest.verify(this.#newest.dummy, password), caller);
      return { isRight: false };
    }
    const isRight = await this.#queue.run(() => this.#verifyWith(hashing, stored, password), caller);
    return isRight ? { isRight, isOutdated: !this.#isCurrent(stored) } : { isRight };
  }

  async #verifyWith(hashing: PasswordHashing, stored: StoredHash, password: string): Promise<boolean> {
    try {
      return await hashing.verify(stored.hash, password);
    } catch (error) {
      this.#log.error('error', `a password hash of version ${stored.schemeVersion} cannot be read`, {
        reason: describeError(error).message,
      });
      return false;
    }
  }

  #isCurrent(stored: StoredHash): boolean {
    return stored.schemeVersion === this.#newestVersion && this.#newest.isCurrent(stored.hash);
  }
}

function newestOf(schemes: readonly PasswordScheme[]): PasswordScheme {
  const [first, ...others] = schemes;
  if (first === undefined) throw new Error('no password scheme is configured');
  return others.reduce((newest, scheme) => (scheme.version > newest.version ? scheme : newest), first);
}

function hashingOf(scheme: PasswordScheme): PasswordHashing {
  switch (scheme.algorithm) {
    case 'argon2id':
      return argon2id(scheme);
    case 'bcrypt':
      return bcrypt(scheme);
    case 'pbkdf2':
      return pbkdf2(scheme);
  }
}
