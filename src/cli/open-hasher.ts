import type { Config } from '#config/config.ts';
import type { Log } from '#platform/base/log.ts';
import { PasswordHasher } from '#platform/password-hash/password-hasher.ts';

const DEFAULT_THREADS = 4;

type Environment = Readonly<Record<string, string | undefined>>;

/** Password hashing as configured. */
export function openHasher(config: Config, log: Log, environment: Environment): PasswordHasher {
  return new PasswordHasher({
    schemes: config.passwords.schemes,
    concurrency: hashesAtOnce(config, environment),
    queueLength: config.limits.passwordHashQueue,
    log,
  });
}

/**
 * Hashes run in the thread pool of the process, whose size was fixed before it started (`UV_THREADPOOL_SIZE`); one
 * thread of it is left for files, names and keys.
 */
export function hashesAtOnce({ limits }: Pick<Config, 'limits'>, environment: Environment): number {
  const threads = Number(environment['UV_THREADPOOL_SIZE'] ?? DEFAULT_THREADS) || DEFAULT_THREADS;
  return Math.max(1, Math.min(limits.passwordHashConcurrency, threads - 1));
}
