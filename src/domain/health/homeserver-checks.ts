/**
 * Checks that the homeserver and the service work together (operations 3.8, chat-compat 11.10). Changes nothing on the
 * homeserver.
 */
import type { Config } from '#config/config.ts';
import { randomAlphanumeric } from '#platform/base/random.ts';
import { Secret } from '#platform/base/secret.ts';
import { parseUrl } from '#platform/base/url.ts';
import { chatNames } from '#protocol/chat/names.ts';
import { type Ask, asMembers, type Requested } from './ask.ts';
import { type CheckName, type Finding, fail, ok, skip, warn } from './finding.ts';

export interface HomeserverCheckDeps {
  readonly config: Pick<Config, 'protocolName' | 'homeserver' | 'compat'> & {
    readonly http: Pick<Config['http'], 'issuer' | 'publicBase'>;
  };
  readonly ask: Ask;
}

export async function checkHomeserver(deps: HomeserverCheckDeps): Promise<readonly Finding[]> {
  const { homeserver } = deps.config;
  if (homeserver.kind === 'none') return [skip('homeserver', 'homeserver.kind is "none"')];
  const { finding: wellKnown, clientApi } = await checkWellKnown(deps);
  const versions = await checkVersions(deps);
  const isThere = versions.status === 'ok';
  const notThere = (name: CheckName): Finding => skip(name, 'the homeserver is unreachable');
  return [
    wellKnown,
    versions,
    isThere ? await checkWhoAmI(deps) : notThere('homeserver.whoami'),
    isThere ? await checkSecret(deps) : notThere('homeserver.secret'),
    await checkLogin(deps, clientApi),
  ];
}

interface WellKnown {
  readonly finding: Finding;
  /** Base URL of the client API, with a trailing slash. */
  readonly clientApi: URL;
}

/**
 * Checks the document that maps `@name:server` to the homeserver. Clients request it from the host without its port.
 */
async function checkWellKnown({ config, ask }: HomeserverCheckDeps): Promise<WellKnown> {
  const name = 'homeserver.wellknown';
  const serverName = config.homeserver.homeserver;
  const { hostname } = new URL(`https://${serverName}`);
  const address = new URL(`https://${hostname}/.well-known/${config.protocolName}/client`);
  // Without the document, clients use the server name that the user entered.
  const without = { clientApi: new URL(`https://${serverName}/`) };
  const hint =
    `Users can only sign in with clients that are configured with the homeserver URL. Serve there: ` +
    `{"m.homeserver": {"base_url": "https://..."}} with the header Access-Control-Allow-Origin: *`;
  const requested = await ask(address);
  if (!requested.ok) return { finding: warn(name, `${address}: ${requested.reason}`, hint), ...without };
  if (requested.status !== 200)
    return { finding: warn(name, `${address} responds ${requested.status}`, hint), ...without };
  const base = asMembers(requested.members?.get('m.homeserver'))?.get('base_url');
  const baseUrl = typeof base === 'string' ? parseUrl(base) : undefined;
  const clientApi = baseUrl === undefined ? undefined : withTrailingSlash(baseUrl);
  if (clientApi === undefined || !/^https?:$/.test(clientApi.protocol))
    return { finding: warn(name, `${address} has no m.homeserver.base_url`, hint), ...without };
  const { actionPrefix } = chatNames(config.protocolName);
  const issuer = asMembers(requested.members?.get(`${actionPrefix}msc2965.authentication`))?.get('issuer');
  if (issuer !== undefined && issuer !== config.http.issuer) {
    const finding = warn(
      name,
      `${address} directs clients to another issuer`,
      `Set issuer in its ${actionPrefix}msc2965.authentication to exactly ${config.http.issuer}, or omit that member`,
    );
    return { finding, clientApi };
  }
  return { finding: ok(name, `${address} directs clients to ${clientApi}`), clientApi };
}

async function checkVersions({ config, ask }: HomeserverCheckDeps): Promise<Finding> {
  const name = 'homeserver.versions';
  const address = below(config.homeserver.endpoint, clientApiPath(config, 'versions'));
  const requested = await ask(address);
  const hint =
    'Compare homeserver.endpoint with the listeners of the homeserver. It must be running and reachable from this machine, ' +
    'with a listener for the resource "client"';
  if (!requested.ok) return fail(name, `${address}: ${requested.reason}`, hint);
  if (!isSuccess(requested)) return fail(name, `${address} responds ${requested.status}`, hint);
  if (requested.members?.has('versions') !== true)
    return fail(name, `${address} is served by something other than a homeserver`, hint);
  return ok(name, `a homeserver responds at ${config.homeserver.endpoint}`);
}

/**
 * Sends an unknown token: the homeserver must introspect it here and accept the result. The token is random, because
 * the homeserver caches results for two minutes.
 */
async function checkWhoAmI({ config, ask }: HomeserverCheckDeps): Promise<Finding> {
  const name = 'homeserver.whoami';
  const requested = await ask(
    below(config.homeserver.endpoint, clientApiPath(config, 'v3/account/whoami')),
    new Secret(`made-up-${randomAlphanumeric(20)}`),
  );
  if (!requested.ok)
    return fail(
      name,
      `to a request with an invalid token, the homeserver returns ${requested.reason}`,
      'Only the homeserver itself may respond at homeserver.endpoint. Check its log',
    );
  if (requested.status === 401) return ok(name, 'the homeserver rejects an invalid token');
  if (requested.status === 503)
    return fail(
      name,
      'the homeserver cannot introspect tokens at this service (503)',
      `In its homeserver.yaml, matrix_authentication_service.endpoint must point to this service (for example ${config.http.publicBase}) ` +
        'at an address that it can reach, and the secret must be the same on both sides. Its log shows which of the two is wrong',
    );
  if (isSuccess(requested))
    return fail(
      name,
      `the homeserver accepts an invalid token (${requested.status})`,
      'Take it off the network: the server at homeserver.endpoint does not check tokens',
    );
  return fail(
    name,
    `to a request with an invalid token, the homeserver responds ${requested.status} instead of 401`,
    'Check its log. A proxy at homeserver.endpoint must forward all requests',
  );
}

/** Omits a required parameter, so that the request always fails. The error shows whether the secret was accepted. */
async function checkSecret({ config, ask }: HomeserverCheckDeps): Promise<Finding> {
  const name = 'homeserver.secret';
  const { endpoint, kind, secret } = config.homeserver;
  const isLegacy = kind === 'synapse_legacy';
  const path = isLegacy ? '_synapse/admin/v1/username_available' : '_synapse/mas/is_localpart_available';
  const requested = await ask(below(endpoint, path), secret);
  const section = isLegacy ? 'experimental_features.msc3861' : 'matrix_authentication_service';
  if (!requested.ok)
    return fail(name, `to a request with the secret, the homeserver returns ${requested.reason}`, 'Check its log');
  switch (requested.status) {
    case 400:
      return ok(name, 'the homeserver accepts the shared secret');
    case 401:
    case 403:
      return fail(
        name,
        `the homeserver rejects the shared secret (${requested.status})`,
        `homeserver.secret must equal ${isLegacy ? 'admin_token' : 'secret'} of ${section} in its homeserver.yaml. ` +
          'Restart the side that you change',
      );
    case 404:
      return fail(
        name,
        'the homeserver does not support the requests of this service (404)',
        isLegacy
          ? 'Its listener must serve /_synapse/admin/. From Synapse 1.157 on, use the kind "synapse"'
          : 'Synapse 1.136 or later supports them if matrix_authentication_service.enabled is true. A proxy in between ' +
              'must forward /_synapse/mas/',
      );
    default:
      return fail(
        name,
        `to a request with the secret, the homeserver responds ${requested.status}`,
        'Check its log. Another server may be responding at homeserver.endpoint',
      );
  }
}

/** Checks that requests for the homeserver's login API are routed to this service. */
async function checkLogin({ config, ask }: HomeserverCheckDeps, clientApi: URL): Promise<Finding> {
  const name = 'compat.login';
  if (!config.compat.enabled) return skip(name, 'compat.enabled is false');
  const address = below(clientApi.href, clientApiPath(config, 'v3/login'));
  const requested = await ask(address);
  const hint =
    `Older clients cannot sign in. The proxy in front of ${clientApi.origin} must forward ` +
    `^/${clientApiPath(config, '([^/]+)/(login|logout|refresh)')} and all paths below to this service, see docs/guides/homeserver.md`;
  if (!requested.ok) return warn(name, `${address}: ${requested.reason}`, hint);
  if (!hasSsoFlow(requested)) return warn(name, `${address} is not served by this service (${requested.status})`, hint);
  return ok(name, `${address} is served by this service`);
}

function hasSsoFlow({ members }: Extract<Requested, { readonly ok: true }>): boolean {
  const flows = members?.get('flows');
  return (
    Array.isArray(flows) &&
    flows.some((flow: unknown) => {
      const entries = asMembers(flow);
      return entries?.get('type') === 'm.login.sso' && entries.get('oauth_aware_preferred') === true;
    })
  );
}

function isSuccess({ status }: { readonly status: number }): boolean {
  return status >= 200 && status < 300;
}

function below(base: string, path: string): URL {
  return new URL(path, base);
}

function withTrailingSlash(url: URL): URL {
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}

/** Without a leading slash, for base URLs with a path. */
function clientApiPath({ protocolName }: Pick<Config, 'protocolName'>, path: string): string {
  return `${chatNames(protocolName).pathPrefix.slice(1)}client/${path}`;
}
