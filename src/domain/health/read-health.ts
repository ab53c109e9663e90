/**
 * What `latchkey doctor` finds, as far as the running service can judge it: for administrators, who may have no access to
 * its machine (administration 7). Everything is judged by this process.
 */
import { join } from 'node:path';
import type { Config } from '#config/config.ts';
import type { Homeserver } from '#domain/homeserver/homeserver.ts';
import type { SigningKeys } from '#domain/keys/signing-keys.ts';
import type { Clock } from '#platform/base/clock.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import { outside } from '#platform/base/tasks.ts';
import type { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import type { Database } from '#platform/postgres/database.ts';
import { checkAddresses, checkPublishedKeys } from './address-checks.ts';
import { askFromService } from './ask.ts';
import { checkDatabase, checkStored } from './database-checks.ts';
import type { Finding } from './finding.ts';
import { checkHomeserver } from './homeserver-checks.ts';
import { checkMail, checkProviderStates } from './peer-checks.ts';
import {
  checkResources,
  type FileProblems,
  fileFindings,
  type ReadSettings,
  settingsFindings,
} from './settings-findings.ts';
import { checkCertificates } from './tls-checks.ts';

/** What only the program itself knows about how it runs. */
export interface Deployment {
  /** Names of the queues of the cleanup jobs. */
  readonly cleanUpQueues: readonly string[];
  readonly settings: ReadSettings;
  listFileProblems(): Promise<FileProblems>;
}

export interface HealthDeps {
  readonly config: Config;
  readonly database: Database;
  readonly homeserver: Homeserver;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
  readonly signingKeys: Pick<SigningKeys, 'publicJwks' | 'canSign'>;
  readonly outbound: Pick<OutboundHttp, 'call'>;
  readonly process: { readonly deployment: Deployment };
}

export interface Health {
  /** When the checks began, in milliseconds since the epoch. */
  readonly at: number;
  readonly findings: readonly Finding[];
}

/** Several administrators, and one who reloads the page, get the same findings. */
const KEPT_MS = 60_000;
/** Those that read whole tables. */
const STORED_KEPT_MS = 15 * 60_000;
/** All requests to other servers end by then. */
const TOTAL_MS = 8_000;
const MAIL_MS = 5_000;

interface Kept<Value> {
  readonly at: number;
  readonly value: Promise<Value>;
}

/** Without the findings of a configuration that a reload has replaced. */
const recent = new WeakMap<Config, Kept<Health>>();
const recentStored = new WeakMap<Config, Kept<readonly Finding[]>>();

/** Takes ten seconds at most, and at most once a minute in each process. */
export async function readHealth(deps: HealthDeps): Promise<Health> {
  return await kept(recent, deps, KEPT_MS, async (at) => ({ at, findings: await check(deps, at) }));
}

async function kept<Value>(
  values: WeakMap<Config, Kept<Value>>,
  { clock, config }: HealthDeps,
  forMs: number,
  read: (at: number) => Promise<Value>,
): Promise<Value> {
  const at = clock.now();
  const known = values.get(config);
  // The promise belongs to a different task: continue in a new stretch of this one.
  if (known !== undefined && Math.abs(at - known.at) < forMs) return await outside(known.value);
  const value = read(at);
  values.set(config, { at, value });
  try {
    return await value;
  } catch (error) {
    values.delete(config);
    throw error;
  }
}

async function check(deps: HealthDeps, now: number): Promise<readonly Finding[]> {
  const { config, database, homeserver: connection, keyRing, outbound, signingKeys } = deps;
  const { deployment } = deps.process;
  const { server } = config.database;
  const ask = askFromService(outbound, performance.now() + TOTAL_MS);
  const asking = { config, ask, now };
  const databaseDeps = {
    ...{ config, database, homeserver: connection, keyRing, now, cleanUpQueues: deployment.cleanUpQueues, pending: [] },
    clusterDirectory: server.kind === 'embedded' ? (server.directory ?? join(config.dataDir, 'db')) : undefined,
  };
  const [files, stored, addresses, keys, mail, providers, homeserver] = await Promise.all([
    deployment.listFileProblems(),
    checkDatabase(databaseDeps, () => kept(recentStored, deps, STORED_KEPT_MS, () => checkStored(databaseDeps))),
    checkAddresses(asking),
    checkPublishedKeys(asking, signingKeys),
    checkMail(config, MAIL_MS),
    checkProviderStates(config.upstreamOauth2, database, now),
    checkHomeserver(asking),
  ]);
  const { settings } = deployment;
  return [
    ...settingsFindings(settings),
    ...fileFindings(files, settings.fileWarnings),
    checkResources(config.http),
    ...stored,
    ...addresses,
    ...checkCertificates(asking),
    keys,
    mail,
    ...providers,
    ...homeserver,
  ];
}
