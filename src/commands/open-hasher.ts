import type { Log } from '#base/log.ts';
import type { Config } from '#config/config.ts';
import { PasswordHasher } from '#gateways/password-hash/password-hasher.ts';

const DEFAULT_THREADS = 4;

/**
 * Password hashing as configured. Hashes run in the thread pool of the process, whose size was fixed before it
 * started (`UV_THREADPOOL_SIZE`); one thread of it is left for files, names and keys.
 */
export function openHasher(
  config: Config,
  log: Log,
  environment: Readonly<Record<string, string | undefined>>,
): PasswordHasher {
  const threads = Number(environment['UV_THREADPOOL_SIZE'] ?? DEFAULT_THREADS) || DEFAULT_THREADS;
  return new PasswordHasher({
    schemes: config.passwords.schemes,
    concurrency: Math.max(1, Math.min(config.limits.passwordHashConcurrency, threads - 1)),
    queueLength: config.limits.passwordHashQueue,
    log,
  });
}
