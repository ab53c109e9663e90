import { connect, isIP } from 'node:net';
import { adminAreaAddress } from '#config/sections/admin-area.ts';
import type { HttpConfig } from '#config/sections/http.ts';
import { hasAdmins } from '#domain/accounts/find-user.ts';
import { lookUpHost } from '#platform/base/host-names.ts';
import { networkText } from '#platform/base/ip-address.ts';
import type { Log } from '#platform/base/log.ts';
import { outside } from '#platform/base/tasks.ts';
import { isLoopbackName } from '#platform/base/url.ts';
import type { BoundAddress } from '#platform/http/listen.ts';
import type { Foundation } from './foundation.ts';

/** Logs a summary of the running service once it listens (operations 2.5). No secret is logged. */
export async function logStartup(started: {
  readonly foundation: Foundation;
  readonly bound: readonly BoundAddress[];
  readonly version: string;
  /** Command line that creates an admin. */
  readonly adminCommand: string;
}): Promise<void> {
  const { foundation, bound, version, adminCommand } = started;
  const { config, database, loaded, note, openLog } = foundation;
  const { log } = openLog;
  log.info('startup', `latchkey ${version} on Node.js ${process.versions.node}`);
  for (const listener of config.http.listeners) {
    const addresses = bound.filter((one) => one.listener === listener.name).map((one) => one.address);
    log.info('startup', `listener ${listener.name} on ${addresses.join(', ')}`, {
      resources: listener.resources.map((resource) => resource.name).join(','),
    });
  }
  const isEmbedded = config.database.server.kind === 'embedded';
  log.info(
    'startup',
    isEmbedded ? 'embedded database: for a single machine; set database.uri to run on several' : 'external database',
  );
  if (note !== undefined) log.info('startup', note);
  log.info('startup', `data directory ${config.dataDir}`);
  log.info('startup', `homeserver ${config.homeserver.kind}`, { server_name: config.homeserver.homeserver });
  log.info('startup', mailRule(config.email));
  log.info('auth.addresses', addressRule(config.http));
  if (loaded.trial) {
    log.info('startup', 'trial mode: no configuration file; everyone who can reach the service can create an account');
  }
  if (await hasAdmins(database)) log.info('startup', 'an admin account exists');
  else log.info('startup', `no admin account yet; create the first one with: ${adminCommand}`);
  const adminArea = adminAreaAddress(config);
  if (adminArea !== undefined) log.info('startup', `admin area: ${adminArea}`);
  log.info('startup', `issuer to configure in clients, exactly as written: ${config.http.issuer}`);
  await logReady(config.http, bound, log);
}

/** Reports an address as ready only after a successful connection to it. */
export async function logReady(
  { issuer, listeners, publicBase }: Pick<HttpConfig, 'issuer' | 'listeners' | 'publicBase'>,
  bound: readonly BoundAddress[],
  log: Log,
): Promise<void> {
  const discovery = discoveryPath(issuer);
  if (!servesDiscovery(listeners, discovery)) {
    log.warn(
      'startup',
      'issuer unreachable: no listener serves its discovery document; set the prefix of a listener to the path of http.issuer',
      { path: discovery },
    );
  }
  const { hostname, port, protocol } = new URL(publicBase);
  const responding: string[] = [];
  for (const { address, port: boundPort } of bound) {
    if (boundPort !== undefined && (await canConnect(hostOf(address), boundPort))) responding.push(address);
  }
  if (!isLoopbackName(hostname)) {
    log.info('startup', `ready at ${publicBase}, on ${bound.map(({ address }) => address).join(', ')}`, {
      connected: responding.join(','),
    });
    return;
  }
  const host = hostname.replace(/^\[|\]$/g, '');
  if (await canConnect(isIP(host) === 0 ? 'localhost' : host, Number(port || (protocol === 'https:' ? 443 : 80)))) {
    log.info('startup', `ready at ${publicBase}`);
    return;
  }
  log.warn('startup', 'no listener on the address of http.public_base; set http.listeners or the variable PORT', {
    public_base: publicBase,
  });
  log.info('startup', `ready at ${responding.join(', ')}`);
}

/** Path of the discovery document (OpenID Connect Discovery 4). */
function discoveryPath(issuer: string): string {
  return `${new URL(issuer).pathname.replace(/\/$/, '')}/.well-known/openid-configuration`;
}

function servesDiscovery(listeners: HttpConfig['listeners'], path: string): boolean {
  return listeners.some(
    ({ prefix = '', resources }) =>
      path === `${prefix}/.well-known/openid-configuration` && resources.some(({ name }) => name === 'discovery'),
  );
}

/** Wildcard addresses include loopback. */
function hostOf(address: string): string {
  const host = address.slice(0, address.lastIndexOf(':')).replace(/^\[|\]$/g, '');
  if (host === '::') return '::1';
  return host === '0.0.0.0' ? '127.0.0.1' : host;
}

const CONNECT_MS = 1000;

function canConnect(host: string, port: number): Promise<boolean> {
  return outside(
    new Promise((resolve) => {
      const socket = connect({ host, port, timeout: CONNECT_MS, lookup: lookUpHost });
      const end = (isConnected: boolean): void => {
        socket.destroy();
        resolve(isConnected);
      };
      socket.once('connect', () => end(true));
      socket.once('timeout', () => end(false));
      socket.once('error', () => end(false));
    }),
  );
}

function mailRule({ transport }: Foundation['config']['email']): string {
  return transport.kind === 'file'
    ? `mail transport file: emails are written to ${transport.directory} and not sent`
    : `mail transport ${transport.kind}`;
}

/**
 * Describes the source of the client address for rate limits and sessions. A wrong setting can lock out all users at
 * once.
 */
function addressRule({ clientIpHeader, trustedProxies }: HttpConfig): string {
  if (clientIpHeader === 'none' || trustedProxies.length === 0) {
    return 'client addresses come from the connection; behind a proxy, all clients share its address';
  }
  const networks = trustedProxies.map(networkText).join(', ');
  return (
    `client addresses come from the connection, and behind a proxy in http.trusted_proxies (${networks}) ` +
    `from its header ${clientIpHeader}, which the proxy must replace or append to`
  );
}
