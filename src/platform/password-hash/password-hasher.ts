/**
 * Hashes and verifies passwords off the main thread. New hashes use the newest configured scheme. Stored hashes are
 * verified with the scheme that they name. One bounded queue (`hash-queue.ts`) limits the load.
 */
import { describeError, type Log } from '#platform/base/log.ts';
import { type HashCaller, HashQueue } from './hash-queue.ts';
import { formsOfPassword, preparePassword } from './prepare-password.ts';
import { hashingOf, type PasswordHashing, type PasswordScheme } from './schemes.ts';

/** A hash as stored. */
export interface StoredHash {
  /** PHC string, or bcrypt's own format. */
  readonly hash: string;
  readonly schemeVersion: number;
}

export interface PasswordHasherOptions {
  /** At least one, with distinct versions. */
  readonly schemes: readonly PasswordScheme[];
  /** Maximum number of concurrent hashes. The thread pool of the process (`UV_THREADPOOL_SIZE`) must be larger. */
  readonly concurrency: number;
  readonly queueLength: number;
  readonly log: Log;
  /** In milliseconds. Defaults to 10 s; tests override it. */
  readonly maxWaitMs?: number;
}

export type Verification =
  | { readonly isRight: false }
  /** `isOutdated`: created by an older scheme, with different cost parameters, or from another Unicode form. */
  | { readonly isRight: true; readonly isOutdated: boolean };

const MAX_WAIT_MS = 10_000;

/** `hash` and `verify` throw `overloaded` if the queue is full, the wait takes too long, or the client disconnects. */
export class PasswordHasher {
  readonly #hashings: ReadonlyMap<number, PasswordHashing>;
  readonly #newest: PasswordHashing;
  readonly #newestVersion: number;
  readonly #queue: HashQueue;
  readonly #log: Log;

  constructor({ schemes, log, ...limits }: PasswordHasherOptions, queue = queueOf(limits)) {
    const newest = newestOf(schemes);
    this.#hashings = new Map(schemes.map((scheme) => [scheme.version, hashingOf(scheme)]));
    this.#newest = hashingOf(newest);
    this.#newestVersion = newest.version;
    this.#queue = queue;
    this.#log = log;
  }

  /** Returns a hasher with other schemes that shares this queue, so that both together respect its limits. */
  withSchemes(options: PasswordHasherOptions): PasswordHasher {
    return new PasswordHasher(options, this.#queue);
  }

  /** Changes the limits of the queue. */
  limit({ concurrency, queueLength: length }: Pick<PasswordHasherOptions, 'concurrency' | 'queueLength'>): void {
    this.#queue.limit({ concurrency, length });
  }

  /** Number of waiting callers, for metrics. */
  get waiting(): number {
    return this.#queue.waiting;
  }

  /** Hashes a password with the newest scheme. Returns undefined if the password is too long for it (bcrypt only). */
  async hash(password: string, caller: HashCaller): Promise<StoredHash | undefined> {
    const hash = await this.#queue.run(() => this.#newest.hash(preparePassword(password)), caller);
    return hash === undefined ? undefined : { hash, schemeVersion: this.#newestVersion };
  }

  /**
   * Verifies a password in each form that the hash may have been created from, see `formsOfPassword`. A wrong password
   * with non-ASCII letters costs up to four hashes, in one slot of the queue. If the stored hash is missing or
   * unusable, it does the same work and fails. So the duration does not reveal which accounts exist.
   */
  async verify(stored: StoredHash | undefined, password: string, caller: HashCaller): Promise<Verification> {
    const hashing = stored === undefined ? undefined : this.#hashings.get(stored.schemeVersion);
    if (stored !== undefined && hashing === undefined) {
      this.#log.error('error', `password scheme version ${stored.schemeVersion} is not configured`);
    }
    if (stored === undefined || hashing === undefined) {
      await this.#queue.run(() => findForm(this.#newest, this.#newest.dummy, password), caller);
      return { isRight: false };
    }
    const form = await this.#queue.run(() => this.#findForm(hashing, stored, password), caller);
    if (form === undefined) return { isRight: false };
    return { isRight: true, isOutdated: !form.isPrepared || !this.#isCurrent(stored) };
  }

  async #findForm(hashing: PasswordHashing, stored: StoredHash, password: string): Promise<MatchingForm | undefined> {
    try {
      return await findForm(hashing, stored.hash, password);
    } catch (error) {
      this.#log.error('error', `a password hash of version ${stored.schemeVersion} is malformed`, {
        reason: describeError(error).message,
      });
      return undefined;
    }
  }

  #isCurrent(stored: StoredHash): boolean {
    return stored.schemeVersion === this.#newestVersion && this.#newest.isCurrent(stored.hash);
  }
}

/** The form of the password that matches the hash. */
interface MatchingForm {
  readonly isPrepared: boolean;
}

async function findForm(hashing: PasswordHashing, stored: string, password: string): Promise<MatchingForm | undefined> {
  const tried = new Set<string>();
  for (const form of formsOfPassword(password)) {
    const hashed = hashing.normalize(form);
    if (tried.has(hashed)) continue;
    if (await hashing.verify(stored, form)) return { isPrepared: tried.size === 0 };
    tried.add(hashed);
  }
  return undefined;
}

function queueOf({
  concurrency,
  queueLength,
  maxWaitMs = MAX_WAIT_MS,
}: Omit<PasswordHasherOptions, 'schemes' | 'log'>) {
  return new HashQueue({ concurrency, length: queueLength, maxWaitMs });
}

function newestOf(schemes: readonly PasswordScheme[]): PasswordScheme {
  const [first, ...others] = schemes;
  if (first === undefined) throw new Error('no password scheme is configured');
  return others.reduce((newest, scheme) => (scheme.version > newest.version ? scheme : newest), first);
}
