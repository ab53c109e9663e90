import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expiryGauges } from '#app/expiry-gauges.ts';
import { processGauges, showKnownSeries } from '#app/process-gauges.ts';
import { openMetrics } from '#app/service/open-metrics.ts';
import { SessionCounts } from '#app/session-counts.ts';
import { syncConfiguration } from '#app/sync-configuration.ts';
import { loadConfig } from '#config/load.ts';
import { findOrCreateGroups } from '#domain/accounts/groups/group.ts';
import { StrengthEstimator } from '#domain/accounts/passwords/strength-estimator.ts';
import { issueRegistrationToken } from '#domain/accounts/registrations/issue-registration-token.ts';
import { registerUser } from '#domain/accounts/registrations/register-user.ts';
import { cancelGrantsOutsideRedirectUris } from '#domain/authorizations/cancel-authorization-grant.ts';
import { syncBuiltinClient } from '#domain/clients/builtin-clients.ts';
import type { Core } from '#domain/core.ts';
import { readSigningKeys, type SigningKeySource } from '#domain/keys/read-signing-keys.ts';
import { clientSessionEnder } from '#domain/oauth-sessions/end-sessions-of-client.ts';
import { loadPolicyModule } from '#domain/policy/module/policy-module.ts';
import { type Clock, systemClock } from '#platform/base/clock.ts';
import { reportTo } from '#platform/base/metrics.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import type { Route } from '#platform/http/route.ts';
import { LogWriter } from '#platform/log/log-writer.ts';
import type { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import { PasswordHasher } from '#platform/password-hash/password-hasher.ts';
import type { OpenDatabase } from '#platform/postgres/database.ts';
import { openDatabase } from '#platform/postgres/open-database.ts';
import { startApp } from './app.ts';
import { parseConnectionUri } from './connection-uri.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { freePort } from './free-port.js';
import { parseRequestLine, type RequestLine } from './log-expression.ts';
import { UNLIMITED_WORK } from './program.js';
import { testSigningKeys } from './signing-keys.ts';
import { silentLog } from './silent-log.ts';

/** The complete service in this process, with a new database and a real port. */
export interface TestService {
  /** The listener's origin, for example `http://127.0.0.1:41234`. */
  readonly address: string;
  /** `http.public_base`, with a trailing slash. */
  readonly publicBase: string;
  /** The issuer identifier, which clients compare character by character. */
  readonly issuer: string;
  readonly database: OpenDatabase;
  readonly connectionString: string;
  /** All mounted routes. */
  readonly routes: readonly Route[];
  readonly core: Core;
  /** Creates an account. @returns its ID */
  registerUser(username: string, password: string, options?: { canRequestAdmin?: boolean }): Promise<string>;
  /** Issues a registration token. @param usageLimit undefined: unlimited */
  issueRegistrationToken(token: string, usageLimit: number | undefined): Promise<void>;
  /** Returns all log lines so far, without line ends. */
  logLines(): string[];
  /** Returns the request lines so far. Throws when a line does not match the format. */
  requestLines(): RequestLine[];
  /** Stops the service. Throws when it logged an unexpected ERROR line. */
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly clock?: Clock;
  /** Shares the database and keys of this instance. Its settings must be passed as well. */
  readonly like?: TestService;
  /** Uses this database, whose values this 32-byte root key encrypts. The caller drops it. */
  readonly on?: { readonly database: TestDatabase; readonly root: Buffer };
  /** ERROR lines that contain one of these texts are expected. */
  readonly expectedErrors?: readonly string[];
  /** Replaces the default of one key per usual kind. */
  readonly signingKeys?: readonly SigningKeySource[];
  /** Built by `bundleWorker`. Without it, users cannot set a password. */
  readonly strengthWorker?: URL;
  /** Replaces the IP address in the public base. Browsers create passkeys only for host names. */
  readonly publicHost?: 'localhost';
  /** For peers on loopback, see `loopbackOutbound`. */
  readonly outbound?: OutboundHttp;
}

/** Generous, so that no estimate times out on a busy machine. */
const PATIENT_MS = 60_000;
/** Resources of the default listener: all that require no configuration. */
export const RESOURCES = [
  'discovery',
  'human',
  'oauth',
  'compat',
  'graphql',
  'assets',
  'adminapi',
  'adminarea',
  'health',
];
const NO_WORKER = new URL('file:///no-strength-worker');

const shared = new WeakMap<TestService, { readonly database: TestDatabase; readonly root: Buffer }>();

/**
 * Starts the service.
 * @param settings the configuration as an object. Listeners and public base have defaults
 */
export async function startService(
  settings: Readonly<Record<string, unknown>> = {},
  options: ServiceOptions = {},
): Promise<TestService> {
  const of = options.on ?? (options.like === undefined ? undefined : shared.get(options.like));
  const testDatabase = of?.database ?? (await createTestDatabase());
  const root = of?.root ?? randomBytes(32);
  const clock = options.clock ?? systemClock;
  const own = of === undefined ? testDatabase.database : await openOn(testDatabase, clock);
  const lines: string[] = [];
  // Real clients compare the issuer with the URL they requested, so the port must be known in advance.
  const loaded = configOf(settings, await freePort(), options.publicHost ?? '127.0.0.1');
  const { config } = loaded;
  const log = new LogWriter({
    ...config.logging,
    sink: { write: (text) => lines.push(...text.trimEnd().split('\n')) },
    clock,
    hasColor: false,
  });
  const keyRing = new KeyRing(root);
  const estimator = new StrengthEstimator(options.strengthWorker ?? NO_WORKER, PATIENT_MS);
  const ender = clientSessionEnder({ isConnected: config.homeserver.kind !== 'none' });
  const sync = { database: own, keyRing, clock, log, cancelGrantsOutsideRedirectUris, findOrCreateGroups, ...ender };
  await syncConfiguration(sync, config);
  await syncBuiltinClient(sync, config);
  const opened = await openMetrics(config.telemetry, { clock, log, version: '1.2.3', isMember: false });
  const { modulePath } = config.policy;
  const { core, server, routes, origin } = await startApp({
    policyModule: modulePath === undefined ? undefined : await loadPolicyModule(modulePath),
    metricsPage: opened?.page,
    config,
    configuration: { loaded, restart: [], readAt: clock.now() },
    database: own,
    clock,
    log,
    keyRing,
    signingKeys: readSigningKeys(options.signingKeys ?? testSigningKeys()),
    hasher: new PasswordHasher({ schemes: config.passwords.schemes, concurrency: 2, queueLength: 64, log }),
    estimator,
    ...(options.outbound !== undefined && { outbound: options.outbound }),
  });
  const { listeners } = config.http;
  const sessions = new SessionCounts(own);
  const gauges = {
    version: core.process.version,
    database: own,
    jobsDatabase: own,
    listeners,
    server,
    core: () => core,
  };
  if (opened !== undefined) {
    showKnownSeries(opened.registry);
    opened.registry.readGauges(processGauges(gauges));
    opened.registry.readGauges(expiryGauges(server, clock, () => core.signingKeys));
    opened.registry.readGauges(sessions.gauges);
    await sessions.start();
  }
  const service: TestService = {
    address: origin,
    publicBase: config.http.publicBase,
    issuer: config.http.issuer,
    database: own,
    connectionString: testDatabase.connectionString,
    routes,
    core,
    registerUser: async (username, password, { canRequestAdmin = false } = {}) => {
      const outcome = await registerUser(core, {
        username,
        displayName: undefined,
        locale: 'en',
        canRequestAdmin,
        isNewAtHomeserver: true,
        emails: [],
        password: await core.hasher.hash(password, { address: 'test' }),
        now: clock.now(),
      });
      if (!outcome.ok) throw new Error(`${username} is taken`);
      return outcome.id;
    },
    issueRegistrationToken: async (token, usageLimit) => {
      const issued = await issueRegistrationToken(core, { token, usageLimit, expiresAt: undefined });
      if (issued === undefined) throw new Error(`there is a token ${token}`);
    },
    logLines: () => lines,
    requestLines: () => lines.filter((line) => line.includes(' http.server.response ')).map(parseRequestLine),
    stop: async () => {
      sessions.stop();
      await server.close(0);
      await opened?.close();
      if (opened !== undefined) reportTo(undefined);
      await core.activity.stop();
      await estimator.close();
      if (of === undefined) await testDatabase.drop();
      else await own.close();
      const unexpected = lines.filter(
        (line) => / ERROR /.test(line) && !(options.expectedErrors ?? []).some((text) => line.includes(text)),
      );
      if (unexpected.length > 0) throw new Error(`unexpected ERROR lines:\n${unexpected.join('\n')}`);
    },
  };
  shared.set(service, { database: testDatabase, root });
  return service;
}

/** Opens separate connections for a second instance. */
async function openOn(testDatabase: TestDatabase, clock: Clock): Promise<OpenDatabase> {
  return await openDatabase({ connection: parseConnectionUri(testDatabase.connectionString), log: silentLog, clock });
}

function configOf(settings: Readonly<Record<string, unknown>>, port: number, host: string) {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-service-'));
  try {
    const http = {
      public_base: `http://${host}:${port}`,
      listeners: [
        {
          name: 'web',
          resources: RESOURCES,
          binds: [{ address: `127.0.0.1:${port}` }],
        },
      ],
      ...(typeof settings['http'] === 'object' ? settings['http'] : {}),
    };
    const file = join(folder, 'latchkey.json');
    // Cheap hashes: these tests do not measure their cost.
    const passwords = { schemes: [{ version: 1, algorithm: 'argon2id', memory_kib: 64, iterations: 1 }] };
    const limits = { work: UNLIMITED_WORK, ...(typeof settings['limits'] === 'object' ? settings['limits'] : {}) };
    writeFileSync(file, JSON.stringify({ passwords, ...settings, data_dir: folder, http, limits }));
    return loadConfig({ files: [file], environment: {}, flags: {}, workingDirectory: folder });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
