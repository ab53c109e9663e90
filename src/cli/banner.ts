import type { HttpConfig } from '#config/sections/http.ts';
import { hasAdmins } from '#domain/accounts/find-user.ts';
import { networkText } from '#platform/base/ip-address.ts';
import type { BoundAddress } from '#platform/http/listen.ts';
import type { Foundation } from './foundation.ts';

/** What runs, once, after listening (operations 2.5). No secret is printed. */
export async function logStartup(started: {
  readonly foundation: Foundation;
  readonly bound: readonly BoundAddress[];
  readonly version: string;
  /** Makes an admin, as the operator would call it. */
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
    isEmbedded ? 'database embedded: one machine only; set database.uri for more' : 'database external',
  );
  if (note !== undefined) log.info('startup', note);
  log.info('startup', `data in ${config.dataDir}`);
  log.info('startup', `homeserver ${config.homeserver.kind}`, { server_name: config.homeserver.homeserver });
  log.info('startup', `mail transport ${config.email.transport.kind}`);
  log.info('auth.addresses', addressRule(config.http));
  if (loaded.trial) {
    log.info('startup', 'trial mode: no configuration file; whoever reaches the service may make an account');
  }
  if (await hasAdmins(database)) log.info('startup', 'an admin account exists');
  else log.info('startup', `no admin account yet; make the first one with: ${adminCommand}`);
  log.info('startup', `issuer to type into applications, letter by letter: ${config.http.issuer}`);
  log.info('startup', `ready at ${config.http.publicBase}`);
}

/** Where the address that limits and sessions are counted by comes from: a wrong answer locks everybody out at once. */
function addressRule({ clientIpHeader, trustedProxies }: HttpConfig): string {
  if (clientIpHeader === 'none' || trustedProxies.length === 0) {
    return 'clients are told apart by the address of their connection; behind a proxy all of them share its address';
  }
  const networks = trustedProxies.map(networkText).join(', ');
  return (
    `clients are told apart by the address of their connection, and behind a proxy of http.trusted_proxies (${networks}) ` +
    `by its header ${clientIpHeader}, which such a proxy must replace or append to`
  );
}
