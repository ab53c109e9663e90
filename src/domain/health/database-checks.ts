/** Checks the database and its content (operations 3.8). Read-only. */
import { statfs } from 'node:fs/promises';
import type { Config } from '#config/config.ts';
import { listIdentifierUsernames } from '#domain/accounts/find-user.ts';
import { listStoredSchemes } from '#domain/accounts/passwords/list-stored-schemes.ts';
import { listRecentAddresses } from '#domain/browser-sessions/list-recent-addresses.ts';
import { listUnusableClients } from '#domain/clients/list-unusable-clients.ts';
import type { Homeserver } from '#domain/homeserver/homeserver.ts';
import { isImportIncomplete } from '#domain/import/incomplete-import.ts';
import { findUnimportedUser, findUserAtHomeserver } from '#domain/import/unimported-users.ts';
import { findStateProblem } from '#domain/keys/server-state.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { Networks } from '#platform/base/ip-address.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { outside } from '#platform/base/tasks.ts';
import { trustLine } from '#platform/http/untrusted-proxies.ts';
import { countFailedJobs, listOverdueQueues, readBacklog } from '#platform/jobs/backlog.ts';
import { type LiveProcess, listLiveProcesses } from '#platform/jobs/registered-processes.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { readServerSettings, type ServerSettings } from '#platform/postgres/server-settings.ts';
import { isProtectedAddress } from '#protocol/oidc/provider-metadata.ts';
import { type Finding, fail, ok, skip, warn } from './finding.ts';

const OLDEST_VERSION = 15;
/** Pending in an empty database. */
const BASELINE = '0001-baseline';
const MAX_COUNTED = 10_000;
const OVERDUE_MS = 5 * 60_000;
/** Time after which a silent process counts as dead. */
const UNATTENDED_MS = 2 * 60_000;
const DAY_MS = 86_400_000;
const LEAST_FREE_BYTES = 1024 ** 3;
const SHOWN_USERNAMES = 10;
const SHOWN_CLIENTS = 10;
const RECENT_SESSIONS = 50;
/** Fewer sessions may belong to a single user. */
const LEAST_SESSIONS = 5;

export interface DatabaseCheckDeps {
  readonly config: Pick<Config, 'database' | 'homeserver' | 'passwords' | 'policy' | 'protocolName'> & {
    readonly http: Pick<Config['http'], 'publicBase' | 'trustedProxies' | 'clientIpHeader'>;
  };
  readonly database: Queryable;
  readonly homeserver: Pick<Homeserver, 'isConnected' | 'queryUser'>;
  /** Names of the queues of the cleanup jobs. */
  readonly cleanUpQueues: readonly string[];
  /** Names of pending migrations. */
  readonly pending: readonly string[];
  /** Undefined: no root key is configured or has been generated yet. */
  readonly keyRing: KeyRing | undefined;
  /** Directory of the embedded server. */
  readonly clusterDirectory: string | undefined;
  readonly now: number;
}

type StoredCheckDeps = Pick<DatabaseCheckDeps, 'config' | 'database'>;

/** @param stored checks what is stored, which reads whole tables */
export async function checkDatabase(
  deps: DatabaseCheckDeps,
  stored: () => Promise<readonly Finding[]> = () => checkStored(deps),
): Promise<readonly Finding[]> {
  const settings = await readServerSettings(deps.database);
  const about = [checkServer(deps, settings), ...(await checkEmbedded(deps, settings))];
  // Queries of this version need its migrations.
  if (deps.pending.length > 0) return deps.pending.includes(BASELINE) ? [...about, ...(await checkNew(deps))] : about;
  return [
    ...about,
    ...(await checkImport(deps)),
    await checkEncryption(deps),
    ...(await checkProcesses(deps)),
    await checkCleanUp(deps),
    ...(await stored()),
    await checkClientAddresses(deps),
  ];
}

/** Checks stored passwords, usernames and clients. Reads whole tables. */
export async function checkStored(deps: StoredCheckDeps): Promise<readonly Finding[]> {
  return [await checkSchemes(deps), await checkUsernames(deps), await checkAccess(deps)];
}

async function checkImport({ config, database, homeserver }: DatabaseCheckDeps): Promise<readonly Finding[]> {
  if (await isImportIncomplete(database)) {
    const message = 'an import is incomplete, so the service does not start on this database';
    return [fail('database', message, 'Run latchkey import migrate again, or with --dry-run to abandon the import')];
  }
  return unimported(await findUnimportedUser({ database, homeserver }, config.policy.data.adminUsers));
}

/** Checks whether an import is missing in a database that is empty or does not exist yet. */
export async function checkNew({
  config,
  homeserver,
}: Pick<DatabaseCheckDeps, 'homeserver'> & { readonly config: Pick<Config, 'policy'> }): Promise<readonly Finding[]> {
  return unimported(await findUserAtHomeserver(homeserver, config.policy.data.adminUsers));
}

function unimported(name: string | undefined): readonly Finding[] {
  if (name === undefined) return [];
  return [
    fail(
      'database',
      `the homeserver has the user ${name}, but the database has no accounts`,
      'Import first, with latchkey import mas or latchkey import migrate. To start without these users, run latchkey serve --fresh once',
    ),
  ];
}

function checkServer({ config, pending }: DatabaseCheckDeps, settings: ServerSettings): Finding {
  const name = 'database';
  const { majorVersion, maxConnections, instances } = settings;
  if (majorVersion < OLDEST_VERSION)
    return fail(name, `PostgreSQL ${majorVersion} is too old`, `Update it to ${OLDEST_VERSION} or later`);
  if (pending.length > 0) {
    return warn(
      name,
      `PostgreSQL ${majorVersion}; migrations are pending: ${pending.join(', ')}`,
      'Run latchkey database migrate, or start the service without --no-migrate',
    );
  }
  const needed = config.database.maxConnections * Math.max(1, instances);
  if (needed > maxConnections) {
    return warn(
      name,
      `${Math.max(1, instances)} processes with database.max_connections ${config.database.maxConnections} may open ` +
        `${needed} connections, but the server allows ${maxConnections}`,
      'Lower database.max_connections, or raise max_connections in PostgreSQL',
    );
  }
  return ok(name, `PostgreSQL ${majorVersion}, all migrations applied`);
}

async function checkEmbedded(
  { config, clusterDirectory }: DatabaseCheckDeps,
  { hasDataChecksums, isDurable }: ServerSettings,
): Promise<readonly Finding[]> {
  const name = 'embedded';
  if (config.database.server.kind !== 'embedded' || clusterDirectory === undefined) return [];
  if (!isDurable || !hasDataChecksums) {
    return [
      fail(
        name,
        `${isDurable ? 'data checksums are' : 'fsync is'} off in the embedded server`,
        'Remove the changes from its postgresql.conf. To enable checksums, stop the server and run pg_checksums',
      ),
    ];
  }
  const { bavail, bsize } = await outside(statfs(clusterDirectory));
  const free = bavail * bsize;
  const mebibytes = Math.floor(free / 1024 ** 2);
  if (free < LEAST_FREE_BYTES) {
    return [
      warn(
        name,
        `only ${mebibytes} MiB are free on its disk`,
        'Free some space: on a full disk, nothing can be stored and users cannot sign in',
      ),
    ];
  }
  return [ok(name, `checksums and fsync are on, ${mebibytes} MiB are free`)];
}

async function checkEncryption({ config, database, keyRing }: DatabaseCheckDeps): Promise<Finding> {
  const name = 'secrets.encryption';
  if (keyRing === undefined) return skip(name, 'no root key yet; the first start creates it');
  const problem = await findStateProblem(database, keyRing, config.protocolName);
  if (problem === undefined) return ok(name, 'the root key matches the database');
  return fail(name, problem, 'The service does not start in this state');
}

async function checkProcesses(deps: DatabaseCheckDeps): Promise<readonly Finding[]> {
  const processes = await listLiveProcesses(deps.database, deps.now);
  return [checkInstances(processes), await checkQueue(deps, processes)];
}

function checkInstances(processes: readonly LiveProcess[]): Finding {
  const name = 'instances';
  if (processes.length === 0) return skip(name, 'no process of the service has reported in the last two minutes');
  const digests = new Set(processes.map((one) => one.config_digest.toString('base64')));
  if (digests.size === 1) return ok(name, `${processes.length} with the same configuration`);
  return warn(
    name,
    `${digests.size} configurations in use: ${processes.map((one) => one.name).join(', ')}`,
    'Give all of them the same configuration and reload them (SIGHUP). Only listeners, database, log, limits and jobs may differ',
  );
}

async function checkQueue({ database, now }: DatabaseCheckDeps, processes: readonly LiveProcess[]): Promise<Finding> {
  const name = 'queue';
  const { oldestMs, due, isWorking } = await readBacklog(database, now, MAX_COUNTED);
  const dead = await countFailedJobs(database, now, MAX_COUNTED);
  const waiting = `${jobs(due)} due, the oldest for ${Math.floor(oldestMs / 60_000)} minutes`;
  if (oldestMs > UNATTENDED_MS && !isWorking && !processes.some(({ works }) => works)) {
    return fail(
      name,
      `${waiting}, and no process runs jobs`,
      'Start latchkey worker, or latchkey serve without --no-worker: emails, homeserver updates and cleanup depend on it',
    );
  }
  if (oldestMs > OVERDUE_MS)
    return warn(
      name,
      waiting,
      'Check the log for job.failed. Start more processes or raise jobs.concurrency to run more jobs in parallel',
    );
  if (dead > 0) return warn(name, `${jobs(dead)} dead`, 'Check the log for job.dead. Dead jobs are kept for 90 days');
  return ok(name, due === 0 ? 'no due jobs' : `${jobs(due)} due`);
}

/** Checks that the cleanup jobs run, so that expired rows are deleted in time. */
async function checkCleanUp({ cleanUpQueues, database, now }: DatabaseCheckDeps): Promise<Finding> {
  const name = 'cleanup';
  const late = await listOverdueQueues(database, cleanUpQueues, new Date(now - DAY_MS));
  if (late.length === 0) return ok(name, 'expired data is deleted on schedule');
  return warn(
    name,
    `overdue for more than a day: ${late.join(', ')}`,
    'Tables keep growing. Make sure that a process runs background jobs, and check its log for job.failed',
  );
}

async function checkSchemes({ config, database }: StoredCheckDeps): Promise<Finding> {
  const name = 'passwords.schemes';
  const configured = new Set(config.passwords.schemes.map(({ version }) => version));
  const unknown = (await listStoredSchemes(database)).filter((version) => !configured.has(version));
  if (unknown.length === 0) return ok(name, 'all stored passwords can be verified');
  return fail(
    name,
    `there are stored passwords of version ${unknown.join(', ')}, which is missing in passwords.schemes`,
    'Their users cannot sign in. Restore these entries. Each sign-in then replaces the hash with one of the first entry',
  );
}

/** Finds accounts with usernames that are no longer allowed. */
async function checkUsernames({ config, database }: StoredCheckDeps): Promise<Finding> {
  const name = 'usernames';
  const found = await listIdentifierUsernames(database, SHOWN_USERNAMES + 1);
  if (found.length === 0) return ok(name, 'no username looks like an identifier');
  const shown = found.slice(0, SHOWN_USERNAMES).join(', ') + (found.length > SHOWN_USERNAMES ? ', ...' : '');
  return warn(
    name,
    `usernames that look like identifiers (ULID or UUID): ${shown}`,
    `Find out who created these accounts. Commands and APIs treat these names as identifiers. Use the id of the account, or @NAME:${config.homeserver.homeserver}`,
  );
}

/** Finds clients that no user can use. */
async function checkAccess({ database }: StoredCheckDeps): Promise<Finding> {
  const name = 'access';
  const found = await listUnusableClients(database, SHOWN_CLIENTS + 1);
  if (found.length === 0) return ok(name, 'every client that is limited to groups has users');
  const shown = found.slice(0, SHOWN_CLIENTS).join(', ') + (found.length > SHOWN_CLIENTS ? ', ...' : '');
  return warn(
    name,
    `clients that nobody can use, because their groups have no members or were deleted: ${shown}`,
    'Add users to the allowed groups, or change allowed_groups of the clients',
  );
}

/** Detects a proxy that does not pass on client addresses: all users then share one address and its rate limits. */
async function checkClientAddresses({ config, database, now }: DatabaseCheckDeps): Promise<Finding> {
  const name = 'client_ip';
  const { clientIpHeader, publicBase, trustedProxies } = config.http;
  const trusted = new Networks(trustedProxies);
  const untrusted = (await listLiveProcesses(database, now))
    .flatMap((process) => process.untrusted_proxies)
    .find((address) => !trusted.has(address));
  if (untrusted !== undefined) {
    return warn(
      name,
      `${untrusted} sends ${clientIpHeader} but is not in http.trusted_proxies, so its clients share the rate limits of one address`,
      `If this is your reverse proxy, add to the section http: ${trustLine(trustedProxies, untrusted)}`,
    );
  }
  if (clientIpHeader === 'none' || trustedProxies.length === 0) return skip(name, 'no trusted proxies');
  if (new URL(publicBase).protocol === 'http:' && isProtectedAddress(publicBase))
    return skip(name, 'http.public_base is for this machine only');
  const since = toUuid(newId<'browser-session'>(now - DAY_MS));
  const seen = await listRecentAddresses(database, since, RECENT_SESSIONS);
  const [first] = seen;
  if (first === undefined || seen.length < LEAST_SESSIONS) return skip(name, 'too few sign-ins in the last day');
  const isShared = seen.every((address) => address === first) && trusted.has(first);
  if (!isShared) return ok(name, `users come from ${new Set(seen).size} addresses`);
  return warn(
    name,
    `the last ${seen.length} sign-ins all come from ${first}, which is in http.trusted_proxies`,
    `Configure the proxy to send ${clientIpHeader}. Otherwise all users share the rate limits of one address (docs/guides/reverse-proxy.md)`,
  );
}

function jobs(count: number): string {
  if (count === 1) return '1 job is';
  return `${count}${count === MAX_COUNTED ? ' or more' : ''} jobs are`;
}
