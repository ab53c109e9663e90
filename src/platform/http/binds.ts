import { lookup } from 'node:dns/promises';
import type { Server } from 'node:http';
import { isIPv6 } from 'node:net';
import { ExitError } from '#platform/base/errors.ts';
import type { Bind, TcpBind } from './http-options.ts';
import { listenOnSocket } from './unix-sockets.ts';

const EXIT_OSERR = 71;

/** Where a server listens, as the start-up line shows it. */
export interface BoundAddress {
  readonly listener: string;
  /** `host:port`, IPv6 in brackets; `unix:` and the path of a socket. */
  readonly address: string;
  /** Undefined for a Unix socket. */
  readonly port: number | undefined;
}

interface ListenTarget {
  readonly host: string;
  readonly port: number;
  /** Without it an IPv6 socket takes IPv4 as well. */
  readonly ipv6Only: boolean;
}

/**
 * Binds one server per address of an entry. Servers bound before a failing one stay with the caller, in `servers`.
 * Throws `ExitError` 71 with the address and the system's error.
 */
export async function bind(
  listener: string,
  entry: Bind,
  createServer: () => Server,
  servers: Server[],
): Promise<BoundAddress[]> {
  if ('socket' in entry) {
    const server = createServer();
    servers.push(server);
    await listenOnSocket(server, entry);
    return [{ listener, address: `unix:${entry.socket}`, port: undefined }];
  }
  const bound: BoundAddress[] = [];
  for (const target of await targetsOf(entry)) {
    const server = createServer();
    // Several addresses of one name share the port that the first of them was given.
    const port = target.port === 0 ? (bound[0]?.port ?? 0) : target.port;
    const address = await listen(server, { ...target, port });
    servers.push(server);
    bound.push({ listener, ...address });
  }
  return bound;
}

async function targetsOf(entry: TcpBind): Promise<ListenTarget[]> {
  const { host = '::', port } = entry;
  if (host === '::') return [{ host, port, ipv6Only: false }];
  try {
    const addresses = await lookup(host, { all: true });
    const unique = [...new Set(addresses.map(({ address }) => address))];
    return unique.map((address) => ({ host: address, port, ipv6Only: true }));
  } catch (error) {
    throw bindError(host, port, error);
  }
}

async function listen(server: Server, target: ListenTarget): Promise<{ address: string; port: number }> {
  try {
    return await listenOnce(server, target);
  } catch (error) {
    const hasNoIpv6 = error instanceof Error && 'code' in error && NO_IPV6.has(String(error.code));
    if (target.host === '::' && hasNoIpv6) return listen(server, { ...target, host: '0.0.0.0' });
    throw bindError(target.host, target.port, error);
  }
}

const NO_IPV6 = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL']);

function listenOnce(server: Server, target: ListenTarget): Promise<{ address: string; port: number }> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(target, () => {
      server.off('error', reject);
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : target.port;
      resolve({ address: hostAndPort(target.host, port), port });
    });
  });
}

function bindError(host: string, port: number, cause: unknown): ExitError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new ExitError(EXIT_OSERR, `cannot listen on ${hostAndPort(host, port)}: ${reason}`, { cause });
}

function hostAndPort(host: string, port: number): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}
