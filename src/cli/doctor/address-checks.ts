/** Checks that the service is reachable at its published URLs (operations 3.8). */
import type { Config } from '#config/config.ts';
import type { SigningKeys } from '#domain/signing-keys/signing-keys.ts';
import { isProtectedAddress } from '#protocol/oidc/provider-metadata.ts';
import { type Ask, asMembers } from './ask.ts';
import { type Finding, fail, ok, skip, warn } from './finding.ts';

const MAX_SKEW_MS = 30_000;
const REFUSED = 'Applications refuse the service then, and nobody signs in to them';

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
    `${publicBase} is not https`,
    'Passwords and codes travel unencrypted, and applications may refuse it: put a proxy with a certificate in front ' +
      '(docs/guides/reverse-proxy.md) and set http.public_base to its address',
  );
}

/** OpenID Connect Discovery 1.0 4.3: the document must name the issuer that it was requested from. */
async function checkIssuer({ config, ask }: AddressCheckDeps): Promise<Finding> {
  const name = 'issuer';
  const { issuer } = config.http;
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const asked = await ask(new URL(address));
  const hint = `${REFUSED}. Start it, or let the proxy pass this path on; http.issuer and http.public_base name the address`;
  if (!asked.ok) return fail(name, `${address}: ${asked.reason}`, hint);
  if (asked.status !== 200) return fail(name, `${address} answers ${asked.status}`, hint);
  const published = asked.members?.get('issuer');
  if (published === issuer) return ok(name, `${issuer} is what to type into applications`);
  return fail(
    name,
    `${address} names another issuer than ${issuer}`,
    'Another service answers there, or one with another http.issuer or http.public_base: make them the same and restart it',
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
  const asked = await ask(address);
  const hint =
    'Look at the log of the service, and at that of the proxy before it; docs/guides/operate.md says what 503 means';
  if (!asked.ok) return fail(name, `${address}: ${asked.reason}`, hint);
  if (asked.status !== 200) return fail(name, `${address} answers ${asked.status}`, hint);
  const skew = asked.sentAt === undefined ? 0 : Math.abs(asked.sentAt - now);
  if (skew <= MAX_SKEW_MS) return ok(name, `${address} is healthy`);
  return warn(
    name,
    `the clock behind ${address} differs from the one here by ${Math.round(skew / 1000)} seconds`,
    'Let all machines take the time from the same servers: tokens and codes seem to be over too early or too late',
  );
}

/** Checks that the running service publishes the configured keys. */
export async function checkPublishedKeys(
  { config, ask }: AddressCheckDeps,
  signingKeys: Pick<SigningKeys, 'publicJwks' | 'canSign'>,
): Promise<Finding> {
  const name = 'secrets.keys';
  if (!signingKeys.canSign('RS256'))
    return fail(name, 'no key signs with RS256', 'Every application knows it: make one with latchkey keys rotate');
  const own = signingKeys.publicJwks().keys.map(({ kid }) => kid);
  const address = new URL('oauth2/keys.json', config.http.publicBase);
  const asked = await ask(address);
  const published = asked.ok ? asked.members?.get('keys') : undefined;
  if (!Array.isArray(published)) return skip(name, `${address} was not to be had, so there is nothing to compare`);
  const kids = new Set(published.map((key: unknown) => asMembers(key)?.get('kid')));
  const missing = own.filter((kid) => !kids.has(kid));
  if (missing.length === 0) return ok(name, `the ${own.length} keys of the configuration are published`);
  return fail(
    name,
    `${address} lacks keys of the configuration: ${missing.join(', ')}`,
    'What they sign is refused. Send SIGHUP to the service, or restart it; all instances need the same keys',
  );
}
