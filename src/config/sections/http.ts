import { isIP } from 'node:net';
import { z } from 'zod';
import { type Cidr, LOOPBACK_NETWORKS, PRIVATE_NETWORKS, parseCidr } from '#platform/base/ip-address.ts';
import { isLoopbackName } from '#platform/base/url.ts';
import { type Elements, listKeysRule, listRule, type ReportProblem, rule } from '#platform/config/rule.ts';
import { hint } from '#platform/config/shape.ts';
import {
  bool,
  choice,
  cidr,
  type Immutable,
  integer,
  list,
  mapping,
  path,
  text,
  webUrl,
} from '#platform/config/values.ts';
import type { Bind, ListenerOptions, ListenVariables, TcpBind } from '#platform/http/http-options.ts';
import { automaticWorkers, MAX_WORKERS } from './automatic-workers.ts';
import { listenerTls, tlsOptions } from './listener-tls.ts';

/** Stands for loopback and private networks in `http.trusted_proxies`. */
const PRIVATE = 'private';

const PROXY_EXPECTED = `expected an IP address, a network (IP/prefix, no host bits set) or "${PRIVATE}"`;
const proxyNetwork = hint(
  z.string({ error: PROXY_EXPECTED }).transform((value, context): readonly Cidr[] => {
    if (value === PRIVATE) return PRIVATE_NETWORKS;
    const network = parseCidr(value);
    if (network !== undefined) return [network];
    context.addIssue(PROXY_EXPECTED);
    return z.NEVER;
  }),
  { type: `IP address, network or \`${PRIVATE}\`` },
);

/** Resources of the default listener. */
const DEFAULT_RESOURCES = [
  'discovery',
  'human',
  'oauth',
  'compat',
  'graphql',
  'assets',
  'adminapi',
  'adminarea',
  'health',
] as const;
const RESOURCES = [...DEFAULT_RESOURCES, 'prometheus', 'connection-info'] as const;
const DEFAULT_PORT = 8080;
const MAX_DESCRIPTORS = 1000;

const resource = z.union(
  [
    choice(RESOURCES),
    mapping({ name: choice(RESOURCES).describe('Resource that the listener serves; equivalent to the bare name.') }),
  ],
  { error: `expected a resource: ${RESOURCES.join(', ')}` },
);

const bind = rule(
  mapping({
    address: text({
      maximum: 60,
      expected: 'expected "host:port" or "[host]:port" with an IP address and a port from 0 to 65535',
    })
      .refine((value) => parseSocketAddress(value) !== undefined, {
        error: 'expected "host:port" or "[host]:port" with an IP address and a port from 0 to 65535',
      })
      .optional()
      .describe('IP address and port: `127.0.0.1:8080` or `[::1]:8080`. Port 0 selects a free port.'),
    host: text({ maximum: 253, pattern: /^[^\s/]+$/, expected: 'expected a host name or an IP address' })
      .optional()
      .describe(
        'Host name or IP address, resolved once at start; all its addresses are bound. Default: all addresses.',
      ),
    port: integer(0, 65535).optional().describe('Port for `host`. 0 selects a free port.'),
    socket: path().optional().describe('Path of a Unix socket, instead of an address. A stale socket is replaced.'),
    mode: hint(
      text({ maximum: 4, pattern: /^[0-7]{3,4}$/, expected: 'expected octal permissions in quotes, such as "660"' }),
      {
        defaultText: 'set by the umask',
      },
    )
      .optional()
      .describe('Permissions of `socket`, octal in quotes.'),
    fd: hint(integer(0, MAX_DESCRIPTORS), { defaultText: '0 with `kind`' })
      .optional()
      .describe('Index, from 0, of a socket passed by the service manager; each is used once.'),
    fd_name: text({
      maximum: 255,
      pattern: /^[\x21-\x39\x3b-\x7e]+$/,
      expected: 'expected a name without spaces or ":"',
    })
      .optional()
      .describe('Name of a socket passed by the service manager (`LISTEN_FDNAMES`), instead of `fd`.'),
    kind: hint(choice(['tcp', 'unix']), { defaultText: '`tcp`' })
      .optional()
      .describe('Type of the socket passed by the service manager.'),
  }),
  ['address', 'host', 'port', 'socket', 'mode', 'fd', 'fd_name', 'kind'],
  ({ address, host, port, socket, mode, fd, fd_name, kind }, problem) => {
    const isInherited = fd !== undefined || fd_name !== undefined || kind !== undefined;
    const forms = [address !== undefined, host !== undefined || port !== undefined, socket !== undefined, isInherited];
    const count = forms.filter(Boolean).length;
    if (count > 1) problem([], 'use one of "address", "host" and "port", "socket", or "fd"');
    else if (count === 0 || (host !== undefined && port === undefined))
      problem([], 'needs "address", "port", "socket" or "fd"');
    if (fd !== undefined && fd_name !== undefined) problem(['fd_name'], 'not allowed together with "fd"');
    if (mode !== undefined && socket === undefined) problem(['mode'], 'goes with "socket" only');
  },
);

const listener = rule(
  mapping({
    name: hint(text({ maximum: 64 }), { defaultText: 'position in the list' })
      .optional()
      .describe('Unique name, shown in the log line at start.'),
    resources: listRule(list(resource, { minimum: 1 }), (resources, problem) => {
      const seen = new Set<string>();
      for (const [index, entry] of resources) {
        const name = resourceName(entry);
        if (seen.has(name)) problem([index], `"${name}" is listed twice`);
        seen.add(name);
      }
      // The area calls the API at its own origin.
      const area = resources.find(([, entry]) => resourceName(entry) === 'adminarea');
      if (area !== undefined && !seen.has('adminapi')) {
        problem([area[0]], '"adminarea" requires "adminapi" on the same listener');
      }
    }).describe('Resources that the listener serves; other routes return 404.'),
    binds: list(bind, { minimum: 1 }).describe('Addresses that the listener accepts connections on.'),
    prefix: text({ maximum: 255, pattern: /^\/[^\s?#%\\]*$/, expected: 'expected a path that starts with "/"' })
      .optional()
      .describe('Path prefix of all resources. All listeners that serve `human` must have the same prefix.'),
    proxy_protocol: z
      .union(
        [
          bool(),
          mapping({
            from: list(cidr(), { minimum: 1 }).describe(
              'Load balancers that may connect; other connections are closed.',
            ),
          }),
        ],
        {
          error: 'expected true, false or {from: [network]}',
        },
      )
      .prefault(false)
      .describe(
        'Expects a PROXY protocol header (version 1 or 2) with the client address on every connection. ' +
          '`true` trusts every peer.',
      ),
    tls: listenerTls
      .optional()
      .describe('TLS certificate; the listener then serves https. Reloaded on SIGHUP and when a file changes.'),
    cleartext_http2: hint(bool(), { defaultText: '`false`; `true` with a configuration file of MAS' })
      .prefault(false)
      .describe(
        'Also serves HTTP/2 without TLS (h2c) to clients that start with it (prior knowledge), for reverse proxies. ' +
          'HTTP/1.1 stays available on the same address. With `tls`, clients choose HTTP/2 in the handshake.',
      ),
  }),
  ['tls', 'cleartext_http2'],
  ({ tls, cleartext_http2 }, problem) => {
    if (tls !== undefined && cleartext_http2) problem(['cleartext_http2'], 'not allowed together with "tls"');
  },
);

const listeners = listKeysRule(
  listKeysRule(list(listener, { minimum: 1 }), ['name'], checkNames),
  ['resources', 'prefix'],
  checkHumanPrefixes,
);

export const httpSection = mapping({
  public_base: hint(webUrl({ allowQuery: false }), { defaultText: '`http://localhost:8080` (follows the listener)' })
    .optional()
    .describe(
      'URL of the service for browsers and clients. All links are built from it and never from ' +
        'request headers. A trailing slash only matters for `http.issuer`. With https, cookies are marked ' +
        '`Secure` and HSTS is sent.',
    ),
  issuer: hint(webUrl({ allowQuery: false }), { defaultText: '`http.public_base`, unchanged' })
    .optional()
    .describe(
      'Issuer identifier, published exactly as written. Clients compare it character by character, ' +
        'including a trailing slash.',
    ),
  trusted_proxies: hint(list(proxyNetwork), {
    defaultText: '`[127.0.0.0/8, "::1/128"]`; `[private]` when `protocol_name` is `matrix`',
  })
    .optional()
    .describe(
      'Proxies that may pass the client address in a forwarding header. `private` stands for loopback and ' +
        'the private networks 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 and fd00::/8: use it only if these ' +
        'networks contain no clients. `[]`: none.',
    ),
  client_ip_header: choice(['x-forwarded-for', 'forwarded', 'none'])
    .prefault('x-forwarded-for')
    .describe('Header with the client address, set by trusted proxies.'),
  hsts: bool().prefault(true).describe('Sends `Strict-Transport-Security` if `public_base` is https.'),
  workers: z
    .union([integer(1, MAX_WORKERS), choice(['auto'])], {
      error: `expected an integer from 1 to ${MAX_WORKERS} or "auto"`,
    })
    .prefault(1)
    .describe(
      'Number of worker processes of `serve`; `auto`: one per processor that the container or service may use, if ' +
        'it has 256 MiB of memory for each process. Limits per process, including ' +
        '`database.max_connections`, apply to each worker. The first worker also runs background jobs.',
    ),
  listeners: hint(listeners, {
    defaultText:
      'one listener `web` with all resources except `prometheus` and `connection-info`: on the host and ' +
      'port of `public_base` if it is on loopback, on `localhost:8080` without `public_base`, otherwise on ' +
      'port 8080 of all addresses',
  })
    .optional()
    .describe('Listeners of the service and the resources that they serve.'),
});

type ParsedHttp = z.output<typeof httpSection>;
type ParsedListener = z.output<typeof listener>;

function checkNames(entries: Elements<Pick<ParsedListener, 'name'>>, problem: ReportProblem): void {
  const seen = new Map<string, number>();
  for (const [index, { name = String(index) }] of entries) {
    const other = seen.get(name);
    if (other !== undefined) problem([index, 'name'], `"${name}" is also the name of listener ${other}`);
    else seen.set(name, index);
  }
}

type Mounted = Pick<ParsedListener, 'resources' | 'prefix'>;

function checkHumanPrefixes(entries: Elements<Mounted>, problem: ReportProblem): void {
  let first: string | undefined;
  for (const [index, entry] of entries.filter(([, entry]) => servesHuman(entry))) {
    const prefix = withoutTrailingSlash(entry.prefix) ?? '/';
    first ??= prefix;
    if (prefix !== first) {
      problem([index, 'prefix'], `listeners that serve "human" must have the same prefix; another one has "${first}"`);
    }
  }
}

function servesHuman(entry: Mounted): boolean {
  return entry.resources.some((resource) => resourceName(resource) === 'human');
}

/** Returns the resource name of a list entry. */
export function resourceName(entry: z.output<typeof resource>): (typeof RESOURCES)[number] {
  return typeof entry === 'string' ? entry : entry.name;
}

/** Address of the default listener. */
export interface DefaultBind {
  readonly host: string | undefined;
  readonly port: number | undefined;
}

export type HttpConfig = Immutable<ReturnType<typeof httpConfig>>;

/** Inputs of the section's defaults. */
interface HttpInputs {
  readonly bind: DefaultBind;
  readonly protocolName: string;
  /** Set by the service manager. */
  readonly listenVariables?: ListenVariables | undefined;
}

export function httpConfig(parsed: ParsedHttp, inputs: HttpInputs) {
  const { bind: defaultBind, listenVariables = {}, protocolName } = inputs;
  const listeners = listenersOf(parsed, defaultBind);
  const typedBase = parsed.public_base ?? publicBaseOf(listeners);
  return {
    /** Absolute, with a trailing slash; the only source of absolute URLs. */
    publicBase: withTrailingSlash(typedBase),
    /** `http.issuer` or `http.public_base`, exactly as written, with or without a trailing slash. */
    issuer: parsed.issuer ?? typedBase,
    trustedProxies: parsed.trusted_proxies?.flat() ?? defaultProxies(protocolName),
    clientIpHeader: parsed.client_ip_header,
    hsts: parsed.hsts,
    /** Number of serving processes. */
    workers: parsed.workers === 'auto' ? automaticWorkers() : parsed.workers,
    listeners,
    listenVariables,
  };
}

/**
 * Returns the configured listeners, or one default listener. The default binds to loopback unless `public_base` is a
 * public host.
 */
export function listenersOf(
  { listeners, public_base: base }: Pick<ParsedHttp, 'listeners' | 'public_base'>,
  { host, port }: DefaultBind,
): ListenerOptions[] {
  if (listeners !== undefined) return listeners.map(listenerConfig);
  const followed = base === undefined ? { host: 'localhost', port: undefined } : followedBind(new URL(base));
  return [defaultListener({ host: host ?? followed.host, port: port ?? followed.port })];
}

const HTTP_PORT = 80;

/** Derives the bind address from a loopback URL. Other URLs determine nothing. */
function followedBind({ hostname, port, protocol }: URL): DefaultBind {
  if (!isLoopbackName(hostname)) return { host: undefined, port: undefined };
  const host = /^(?:.+\.)?localhost$/.test(hostname) ? 'localhost' : hostname.replace(/^\[|\]$/g, '');
  // The listener has no TLS. With https, a proxy on this machine terminates TLS and needs the port.
  if (protocol === 'https:') return { host, port: undefined };
  return { host, port: port === '' ? HTTP_PORT : Number(port) };
}

/** Chat deployments migrate from Matrix Authentication Service, which trusts private networks. */
function defaultProxies(protocolName: string): readonly Cidr[] {
  return protocolName === 'matrix' ? PRIVATE_NETWORKS : LOOPBACK_NETWORKS;
}

function listenerConfig(parsed: ParsedListener, index: number): ListenerOptions {
  return {
    name: parsed.name ?? String(index),
    resources: parsed.resources.map((resource) => ({ name: resourceName(resource) })),
    binds: parsed.binds.map(bindConfig),
    prefix: withoutTrailingSlash(parsed.prefix),
    proxyProtocol: proxyProtocol(parsed.proxy_protocol),
    tls: parsed.tls === undefined ? undefined : tlsOptions(parsed.tls),
    cleartextHttp2: parsed.cleartext_http2,
  };
}

function proxyProtocol(parsed: ParsedListener['proxy_protocol']): ListenerOptions['proxyProtocol'] {
  if (parsed === false) return undefined;
  return { from: parsed === true ? undefined : parsed.from };
}

function bindConfig(parsed: ParsedListener['binds'][number]): Bind {
  if (parsed.socket !== undefined) {
    return { socket: parsed.socket, mode: parsed.mode === undefined ? undefined : Number.parseInt(parsed.mode, 8) };
  }
  if (parsed.fd !== undefined || parsed.fd_name !== undefined || parsed.kind !== undefined) {
    return { inherited: parsed.fd_name ?? parsed.fd ?? 0, kind: parsed.kind ?? 'tcp' };
  }
  const address = parsed.address === undefined ? undefined : parseSocketAddress(parsed.address);
  return address ?? { host: parsed.host, port: parsed.port ?? 0 };
}

function defaultListener(bind: DefaultBind): ListenerOptions {
  return {
    name: 'web',
    resources: DEFAULT_RESOURCES.map((name) => ({ name })),
    binds: [{ host: bind.host, port: bind.port ?? DEFAULT_PORT }],
    prefix: undefined,
    cleartextHttp2: false,
  };
}

/** Parses `address:port`, with IPv6 in brackets. The address must be an IP literal. */
export function parseSocketAddress(text: string): TcpBind | undefined {
  const [, v6, v4, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  const host = v6 ?? v4;
  if (host === undefined || !(port <= 65535) || isIP(host) !== (v6 === undefined ? 4 : 6)) return undefined;
  return { host, port };
}

/**
 * Derives the public base from the first TCP listener that serves users, without a trailing slash. A wildcard address
 * becomes `localhost`.
 */
function publicBaseOf(listeners: readonly ListenerOptions[]): string {
  const listener = listeners.find(({ resources }) => resources.some(({ name }) => name === 'human')) ?? listeners[0];
  const { host = 'localhost', port = DEFAULT_PORT } = listener?.binds.find((entry) => 'port' in entry) ?? {};
  const name = host === '::' || host === '0.0.0.0' ? 'localhost' : host;
  const scheme = listener?.tls === undefined ? 'http' : 'https';
  const url = new URL(`${scheme}://${isIP(name) === 6 ? `[${name}]` : name}:${port}/`);
  return `${url.origin}${listener?.prefix ?? ''}`;
}

function withTrailingSlash(url: string): string {
  const { href } = new URL(url);
  return href.endsWith('/') ? href : `${href}/`;
}

function withoutTrailingSlash(prefix: string | undefined): string | undefined {
  const path = prefix?.replace(/\/+$/, '');
  return path === '' ? undefined : path;
}
