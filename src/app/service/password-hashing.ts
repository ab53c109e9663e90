/** The password hasher and the estimator of password strength, as configured. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Config } from '#config/config.ts';
import type { Log } from '#platform/base/log.ts';
import { packageRoot } from '#platform/base/package-root.ts';
import { PasswordHasher, type PasswordHasherOptions } from '#platform/password-hash/password-hasher.ts';

const DEFAULT_THREADS = 4;

type Environment = Readonly<Record<string, string | undefined>>;

/** Opens the password hasher as configured. */
export function openHasher(config: Config, log: Log, environment: Environment): PasswordHasher {
  return new PasswordHasher(hasherOptions(config, log, environment));
}

export function hasherOptions(config: Config, log: Log, environment: Environment): PasswordHasherOptions {
  return {
    schemes: config.passwords.schemes,
    concurrency: hashesAtOnce(config, environment),
    queueLength: config.limits.passwordHashQueue,
    log,
  };
}

/**
 * Returns the number of concurrent hashes. They run in the thread pool, whose size is fixed before the process starts
 * (`UV_THREADPOOL_SIZE`). One thread is reserved for files, DNS and keys.
 */
export function hashesAtOnce({ limits }: Pick<Config, 'limits'>, environment: Environment): number {
  const threads = Number(environment['UV_THREADPOOL_SIZE'] ?? DEFAULT_THREADS) || DEFAULT_THREADS;
  return Math.max(1, Math.min(limits.passwordHashConcurrency, threads - 1));
}

/** URL of the built worker thread that estimates password strength. */
export function strengthWorkerUrl(): URL {
  return pathToFileURL(join(packageRoot, 'dist/strength.worker.js'));
}
