/**
 * Makes a server listen on one `binds` entry of a listener. An entry is an IP address, a host name with all its
 * addresses, a Unix socket, or a socket from the service manager. All functions throw `ExitError` 71 with the address
 * and the system's error.
 */
import cluster from 'node:cluster';
import { lookup } from 'node:dns/promises';
import { chmod, lstat, rename, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { isIPv6 } from 'node:net';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { isErrno } from '#platform/base/system-errors.ts';
import type { Bind, InheritedBind, SocketBind, TcpBind } from './http-options.ts';
import { type InheritedSockets, nameOf, otherKind, requireKind } from './inherited-sockets.ts';

/** The address of a server as shown at startup. */
export interface BoundAddress {
  readonly listener: string;
  /** `host:port` with IPv6 in brackets, or `unix:` and the path of a socket. */
  readonly address: string;
  /** Undefined for a Unix socket. */
  readonly port: number | undefined;
}

interface ListenTarget {
  readonly host: string;
  readonly port: number;
  /** Without it, an IPv6 socket also accepts IPv4. */
  readonly ipv6Only: boolean;
}

/** Binds one server per address of an entry. If one fails, the servers already bound remain in `servers`. */
export async function bind(
  listener: string,
  entry: Bind,
  createServer: (isLocal: boolean) => Server,
  servers: Server[],
  inherited: InheritedSockets,
): Promise<BoundAddress[]> {
  if ('inherited' in entry) {
    const descriptor = inherited.take(entry);
    const server = createServer(entry.kind === 'unix');
    servers.push(server);
    return [{ listener, ...(await listenOnDescriptor(server, entry, descriptor)) }];
  }
  if ('socket' in entry) {
    const server = createServer(true);
    servers.push(server);
    await listenOnSocket(server, entry);
    return [{ listener, address: `unix:${entry.socket}`, port: undefined }];
  }
  const bound: BoundAddress[] = [];
  for (const target of await targetsOf(entry)) {
    const server = createServer(false);
    // All addresses of a name use the port that the first of them received.
    const port = target.port === 0 ? (bound[0]?.port ?? 0) : target.port;
    const address = await listenOnAddress(server, { ...target, port });
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
    throw listenError(hostAndPort(host, port), error);
  }
}

async function listenOnAddress(server: Server, target: ListenTarget): Promise<{ address: string; port: number }> {
  try {
    await listen(server, target);
  } catch (error) {
    const hasNoIpv6 = error instanceof Error && 'code' in error && NO_IPV6.has(String(error.code));
    if (target.host === '::' && hasNoIpv6) return listenOnAddress(server, { ...target, host: '0.0.0.0' });
    throw listenError(hostAndPort(target.host, target.port), error);
  }
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : target.port;
  return { address: hostAndPort(target.host, port), port };
}

const NO_IPV6 = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL']);

/**
 * Listens on a Unix socket. The socket is created under a temporary name, gets its permissions, and then replaces any
 * socket at the path. So clients never see wrong permissions or a gap, and a stale socket does no harm. When the server
 * closes, the path is removed only if it is still this socket, since a successor may have replaced it. Worker processes
 * share one socket, which the first of them puts in place.
 */
async function listenOnSocket(server: Server, bind: SocketBind): Promise<void> {
  const { socket: path, mode } = bind;
  const temporary = `${path}.${cluster.isWorker ? process.ppid : process.pid}.tmp`;
  try {
    await refuseOtherFiles(path);
    await listen(server, { path: temporary });
    const isInPlace = cluster.isWorker && (await lstat(temporary).catch(() => undefined)) === undefined;
    if (mode !== undefined && !isInPlace) await chmod(temporary, mode);
    const { ino } = await lstat(isInPlace ? path : temporary);
    if (!isInPlace) await rename(temporary, path);
    server.once('close', () => void removeIfOurs(path, ino));
  } catch (error) {
    throw error instanceof ExitError ? error : listenError(path, error);
  }
}

/** Also throws `ExitError` 78 if the descriptor is not of the kind that the entry says. */
async function listenOnDescriptor(
  server: Server,
  bind: InheritedBind,
  descriptor: number,
): Promise<Omit<BoundAddress, 'listener'>> {
  try {
    await listenByItself(() => listen(server, { fd: descriptor }));
  } catch (error) {
    // Neither a TCP nor a Unix socket.
    if (error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_FD_TYPE') throw otherKind(bind);
    throw listenError(nameOf(bind.inherited), error);
  }
  requireKind(server, bind);
  const bound = server.address();
  return typeof bound === 'object' && bound !== null
    ? { address: hostAndPort(bound.address, bound.port), port: bound.port }
    : { address: nameOf(bind.inherited), port: undefined };
}

/**
 * Listens on a descriptor that this process holds itself. A cluster worker would delegate to the primary, which closes
 * the descriptor permanently with its last worker (decision 0027). The `exclusive` option of Node.js prevents
 * that, but not for descriptors. Node.js does not delegate if it considers the process the primary.
 */
function listenByItself(begin: () => Promise<void>): Promise<void> {
  const { isPrimary } = cluster;
  Object.assign(cluster, { isPrimary: true });
  try {
    return begin();
  } finally {
    Object.assign(cluster, { isPrimary });
  }
}

async function refuseOtherFiles(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found !== undefined && !found.isSocket()) {
    throw new ExitError(ExitCode.osError, `cannot listen on ${path}: the file exists and is not a socket`);
  }
}

async function removeIfOurs(path: string, ino: number): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.ino === ino) await rm(path, { force: true });
}

function listen(
  server: Server,
  target: ListenTarget | { readonly path: string } | { readonly fd: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(target, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function listenError(address: string, cause: unknown): ExitError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new ExitError(ExitCode.osError, `cannot listen on ${address}: ${reason}${listenAdvice(cause)}`, { cause });
}

const CHOOSE =
  'choose another port with the variable PORT, with http.public_base on this machine, or with http.listeners';

function listenAdvice(cause: unknown): string {
  if (isErrno(cause, 'EADDRINUSE')) return `. Another program is listening there: ${CHOOSE}`;
  return isErrno(cause, 'EACCES') ? `. Ports below 1024 require a privilege: ${CHOOSE}` : '';
}

function hostAndPort(host: string, port: number): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}
