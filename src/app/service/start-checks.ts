/** Startup errors and warnings of `serve`. */

import type { Config } from '#config/config.ts';
import { fittingHashes, hashBytes } from '#config/hash-concurrency.ts';
import { ENOUGH_BYTES_PER_PROCESS } from '#config/sections/automatic-workers.ts';
import type { StaticClientConfig } from '#config/sections/clients.ts';
import { usernameKey } from '#domain/accounts/account-names.ts';
import { listUsernamesLike } from '#domain/accounts/find-user.ts';
import type { SigningKeys } from '#domain/keys/signing-keys.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import type { Log } from '#platform/base/log.ts';
import type { Queryable } from '#platform/postgres/database.ts';

const BYTES_PER_MIB = 1024 * 1024;

/**
 * Prevents a start if concurrent hashes could use more than half of the container's memory (operations 9.2): the first
 * burst of sign-ins would get it killed.
 * @param atOnce maximum number of concurrent hashes
 * @param memoryLimit in bytes, from `process.constrainedMemory()`: 0, undefined or a huge number if there is no limit
 * @throws ExitError 78
 */
export function requireMemoryForHashes(
  { passwords }: Pick<Config, 'passwords'>,
  atOnce: number,
  memoryLimit: number | undefined,
): void {
  const bytesEach = hashBytes(passwords);
  const fitting = fittingHashes(memoryLimit, bytesEach);
  if (memoryLimit === undefined || atOnce <= fitting) return;
  const advice =
    fitting > 0
      ? `set limits.password_hash_concurrency to at most ${fitting}, or give the container more memory`
      : 'give the container more memory, or set a smaller memory_kib in passwords.schemes';
  throw new ExitError(
    ExitCode.config,
    `${atOnce} concurrent password hashes require ${mib(atOnce * bytesEach)} MiB, more than half of the ${mib(memoryLimit)} MiB ` +
      `of this container: ${advice}`,
  );
}

/**
 * Warns of a container whose memory suffices for an idle service but not for a busy one: the kernel would kill it
 * repeatedly (security F-13).
 * @param processes number of processes of the service
 * @param memoryLimit as in `requireMemoryForHashes`
 */
export function warnOfLittleMemory(processes: number, memoryLimit: number | undefined, log: Log): void {
  const enough = processes * ENOUGH_BYTES_PER_PROCESS;
  if (memoryLimit === undefined || memoryLimit === 0 || memoryLimit >= enough) return;
  log.warn(
    'startup',
    `the memory limit of this container is ${mib(memoryLimit)} MiB: with less than ${mib(enough)} MiB, the service may be ` +
      'killed when several users sign in at the same time',
  );
}

function mib(bytes: number): number {
  return Math.round(bytes / BYTES_PER_MIB);
}

/**
 * Warns of names in `policy.data.admin_users` that grant nothing because the account does not exist (security S-177).
 * @param registerCommand command line that creates an account
 */
export async function warnOfMissingAdmins(
  queryable: Queryable,
  listed: readonly string[],
  log: Log,
  registerCommand: string,
): Promise<void> {
  if (listed.length === 0) return;
  const existing = await listUsernamesLike(queryable, listed);
  const missing = listed.filter((name) => !existing.includes(name));
  const respelled = missing.flatMap((name) => existing.find((one) => usernameKey(one) === usernameKey(name)) ?? []);
  if (missing.length === 0) return;
  log.warn(
    'startup',
    `policy.data.admin_users lists accounts that do not exist; create one with: ${registerCommand} NAME`,
    {
      missing: missing.join(' '),
      ...(respelled.length > 0 && { spelled_in_another_case: respelled.join(' ') }),
    },
  );
}

/** Warns of resource servers that get no access tokens because no key signs with their algorithm. */
export function warnOfUnsignableTokens(
  resources: Config['oauth']['resources'],
  signingKeys: Pick<SigningKeys, 'algorithms' | 'canSign'>,
  log: Log,
): void {
  const without = resources.filter(
    ({ tokenAlgorithm }) => tokenAlgorithm !== undefined && !signingKeys.canSign(tokenAlgorithm),
  );
  if (without.length === 0) return;
  log.warn('startup', 'no signing key for the signing_alg of these resources: token requests for them fail', {
    resources: without.map(({ identifier, tokenAlgorithm }) => `${identifier}=${tokenAlgorithm}`).join(' '),
    available: signingKeys.algorithms().join(' '),
  });
}

/** Signing algorithms configured for a client. */
type SignedClient = Pick<
  StaticClientConfig,
  | 'authorizationSignedResponseAlg'
  | 'clientId'
  | 'idTokenSignedResponseAlg'
  | 'introspectionSignedResponseAlg'
  | 'userinfoSignedResponseAlg'
>;

/** Warns of clients that get no ID tokens or other signed responses because no key signs with their algorithm. */
export function warnOfMissingAlgorithms(
  clients: readonly SignedClient[],
  signingKeys: Pick<SigningKeys, 'algorithms' | 'canSign'>,
  log: Log,
): void {
  const wanted = clients.flatMap((client) => [
    { client, answer: 'id_token', algorithm: client.idTokenSignedResponseAlg },
    { client, answer: 'authorization', algorithm: client.authorizationSignedResponseAlg },
    { client, answer: 'userinfo', algorithm: client.userinfoSignedResponseAlg },
    { client, answer: 'introspection', algorithm: client.introspectionSignedResponseAlg },
  ]);
  const without = wanted.filter(({ algorithm }) => algorithm !== undefined && !signingKeys.canSign(algorithm));
  if (without.length === 0) return;
  log.warn('startup', 'no signing key for the ..._signed_response_alg of these clients: these responses fail', {
    clients: without
      .map(({ client, answer: response, algorithm }) => `${client.clientId}:${response}=${algorithm}`)
      .join(' '),
    available: signingKeys.algorithms().join(' '),
  });
}
