/** Checks that the service is reachable at its published URLs (operations 3.8). */
import type { Config } from '#config/config.ts';
import type { SigningKeys } from '#domain/keys/signing-keys.ts';
import { isProtectedAddress } from '#protocol/oidc/provider-metadata.ts';
import { type Ask, asMembers } from './ask.ts';
import { type Finding, fail, ok, skip, warn } from './finding.ts';

const MAX_SKEW_MS = 30_000;
const REFUSED = 'Clients reject the service, and users cannot sign in to them';

export interface AddressCheckDeps {
  readonly config: { readonly http: Pick<Config['http'], 'publicBase' | 'issuer' | 'listeners'> };
  readonly ask: Ask;
  readonly now: number;
}

export async function checkAddresses(deps: AddressCheckDeps): Promise<readonly Finding[]> {
  return [checkScheme(deps), await checkIssuer(deps), await checkHealth(deps)];
}

function checkScheme({ config }: AddressCheckDeps): Finding {
  const name = 'public_base';
  const { publicBase } = config.http;
  if (new URL(publicBase).protocol === 'https:') return ok(name, publicBase);
  if (isProtectedAddress(publicBase)) return ok(name, `${publicBase} (this machine only)`);
  return warn(
    name,
    `${publicBase} does not use https`,
    'Passwords and codes are sent unencrypted, and clients may reject the service. Put a proxy with a certificate in front ' +
      '(docs/guides/reverse-proxy.md) and set http.public_base to its address',
  );
}

/** OpenID Connect Discovery 1.0 4.3: the document must name the issuer that it was requested from. */
async function checkIssuer({ config, ask }: AddressCheckDeps): Promise<Finding> {
  const name = 'issuer';
  const { issuer } = config.http;
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const requested = await ask(new URL(address));
  const hint = `${REFUSED}. Start the service, or forward this path at the proxy. http.issuer and http.public_base set the address`;
  if (!requested.ok) return fail(name, `${address}: ${requested.reason}`, hint);
  if (requested.status !== 200) return fail(name, `${address} responds ${requested.status}`, hint);
  const published = requested.members?.get('issuer');
  if (published === issuer) return ok(name, `${issuer} is the issuer to configure in clients`);
  return fail(
    name,
    `${address} returns an issuer other than ${issuer}`,
    'Another service responds there, or the running one has a different http.issuer or http.public_base: make them equal and restart it',
  );
}

async function checkHealth({ config, ask, now }: AddressCheckDeps): Promise<Finding> {
  const name = 'listener.self';
  const isPublic = config.http.listeners.some(({ resources }) => {
    const served = resources.map((resource) => resource.name);
    return served.includes('health') && served.includes('human');
  });
  if (!isPublic) return skip(name, 'no listener serves both "human" and "health"');
  const address = new URL('health', config.http.publicBase);
  const requested = await ask(address);
  const hint = 'Check the logs of the service and of its proxy. docs/guides/operate.md explains 503';
  if (!requested.ok) return fail(name, `${address}: ${requested.reason}`, hint);
  if (requested.status !== 200) return fail(name, `${address} responds ${requested.status}`, hint);
  const skew = requested.sentAt === undefined ? 0 : Math.abs(requested.sentAt - now);
  if (skew <= MAX_SKEW_MS) return ok(name, `${address} is healthy`);
  return warn(
    name,
    `the clock of ${address} differs from the clock of this machine by ${Math.round(skew / 1000)} seconds`,
    'Synchronize the clocks of all machines (NTP): otherwise tokens and codes expire too early or too late',
  );
}

/** Checks that the running service publishes the configured keys. */
export async function checkPublishedKeys(
  { config, ask }: AddressCheckDeps,
  signingKeys: Pick<SigningKeys, 'publicJwks' | 'canSign'>,
): Promise<Finding> {
  const name = 'secrets.keys';
  if (!signingKeys.canSign('RS256'))
    return fail(name, 'no key for RS256', 'All clients support RS256. Create a key with latchkey keys rotate');
  const own = signingKeys.publicJwks().keys.map(({ kid }) => kid);
  const address = new URL('oauth2/keys.json', config.http.publicBase);
  const requested = await ask(address);
  const published = requested.ok ? requested.members?.get('keys') : undefined;
  if (!Array.isArray(published)) return skip(name, `${address} could not be fetched, so nothing was compared`);
  const kids = new Set(published.map((key: unknown) => asMembers(key)?.get('kid')));
  const missing = own.filter((kid) => !kids.has(kid));
  if (missing.length === 0) return ok(name, `all ${own.length} configured keys are published`);
  return fail(
    name,
    `${address} lacks configured keys: ${missing.join(', ')}`,
    'Tokens signed with them are rejected. Reload (SIGHUP) or restart the service. All instances need the same keys',
  );
}
