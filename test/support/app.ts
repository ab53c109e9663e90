/** The application as `serve` builds it, with a database and configuration from the test. */

import { type App, buildApp } from '#app/app.ts';
import { sweeps } from '#app/sweeps.ts';
import { AssetFiles } from '#browser/asset-files.ts';
import type { Config } from '#config/config.ts';
import { loadConfig } from '#config/load.ts';
import { StrengthEstimator } from '#domain/accounts/passwords/strength-estimator.ts';
import { type Core, createCore, type Resources } from '#domain/core.ts';
import { InstanceState } from '#domain/instance-state.ts';
import { openSecretKeys } from '#domain/keys/secret-keys.ts';
import { ReceivedTraces } from '#platform/base/tracing.ts';
import { mappingNode } from '#platform/config/tree.ts';
import { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import { cheapHasher } from './accounts.ts';
import { TEST_LIMITS } from './route-server.ts';

const NOTHING_SET = mappingNode({ rank: 0, source: 'defaults', directory: '/nowhere' });
const NO_WORKER = new URL('file:///no-strength-worker');
const LOOPBACK = { address: '127.0.0.1', prefixLength: 32, family: 'ipv4' } as const;
const HIGH_LIMIT = { burst: 100_000, perSecond: 1000 };

let defaults: Config | undefined;

/** The default configuration, with a public base, generous limits, and a listener on a free loopback port. */
export function testConfig(
  publicBase: string,
  resources: readonly Config['http']['listeners'][0]['resources'][0]['name'][],
): Config {
  defaults ??= loadConfig({ files: [], environment: {}, flags: {}, workingDirectory: '/nowhere' }).config;
  const path = new URL(publicBase).pathname;
  return {
    ...defaults,
    http: {
      ...defaults.http,
      publicBase,
      issuer: publicBase,
      hsts: true,
      trustedProxies: [],
      listeners: [
        {
          name: 'test',
          resources: resources.map((name) => ({ name })),
          binds: [{ host: '127.0.0.1', port: 0 }],
          prefix: path === '/' ? undefined : path.slice(0, -1),
        },
      ],
    },
    limits: { ...defaults.limits, ...TEST_LIMITS },
    rateLimiting: {
      ...defaults.rateLimiting,
      login: { perIp: HIGH_LIMIT, perAccount: HIGH_LIMIT, perKnownBrowser: HIGH_LIMIT },
      registration: HIGH_LIMIT,
      registrationCheck: HIGH_LIMIT,
      registrationToken: HIGH_LIMIT,
      accountRecovery: { perIp: HIGH_LIMIT, perAddress: HIGH_LIMIT },
      clientRegistration: { perIp: HIGH_LIMIT },
      clientAuthentication: { perClient: HIGH_LIMIT },
    },
  };
}

/** Trusts X-Forwarded-For from loopback. */
export function behindProxy(config: Config): Config {
  return { ...config, http: { ...config.http, trustedProxies: [LOOPBACK], clientIpHeader: 'x-forwarded-for' } };
}

/** The resources that a test chooses. The rest is cheap and fixed. */
export type AppOptions = Pick<Resources, 'config' | 'database' | 'clock' | 'log' | 'keyRing' | 'signingKeys'> &
  Partial<
    Pick<Resources, 'configuration' | 'hasher' | 'estimator' | 'metricsPage' | 'outbound' | 'policyModule' | 'tracing'>
  > & {
    /** Built asset files, none by default. */
    readonly assets?: AssetFiles;
  };

export interface RunningApp extends App {
  readonly core: Core;
  /** The listener's origin, for example `http://127.0.0.1:41234`. */
  readonly origin: string;
}

/** Starts an instance on its first listener address. */
export async function startApp({ assets, ...options }: AppOptions): Promise<RunningApp> {
  const { config } = options;
  const instance = new InstanceState();
  instance.isStarted = true;
  const core = createCore({
    hasher: cheapHasher(),
    estimator: new StrengthEstimator(NO_WORKER),
    lag: { isLagging: false, isStalled: false },
    instance,
    tracing: new ReceivedTraces(true),
    version: '0.0.0',
    processName: 'test:1',
    configuration: { loaded: { config, environment: {}, files: [], tree: NOTHING_SET }, restart: [], readAt: 0 },
    deployment: {
      cleanUpQueues: sweeps.map(({ name }) => name),
      settings: { warnings: [], fileWarnings: [], deprecations: [], files: [] },
      listFileProblems: async () => ({ warnings: [], errors: [] }),
    },
    secretKeys: await openSecretKeys(options),
    outbound: new OutboundHttp({ ...options.config.outbound, clock: options.clock, log: options.log }),
    ...options,
  });
  const app = buildApp(core, assets ?? new AssetFiles({}, () => undefined));
  const [bound] = await app.server.listen();
  if (bound === undefined) throw new Error('the server bound no address');
  return { ...app, core, origin: `http://127.0.0.1:${bound.port}` };
}
