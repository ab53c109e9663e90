import type { Cidr } from '#platform/base/ip-address.ts';
import type { Secret } from '#platform/base/secret.ts';
import type { WorkLimits } from './work-budget.ts';

/** What the server needs to know of its place in the network. */
export interface HttpOptions {
  readonly trustedProxies: readonly Cidr[];
  readonly clientIpHeader: 'x-forwarded-for' | 'forwarded' | 'none';
  readonly hsts: boolean;
  readonly listeners: readonly ListenerOptions[];
  readonly listenVariables?: ListenVariables;
}

/** The listener resource that a route belongs to; a listener that does not mount it answers 404. */
export type Resource =
  | 'discovery'
  | 'human'
  | 'oauth'
  | 'compat'
  | 'graphql'
  | 'assets'
  | 'adminapi'
  | 'health'
  | 'prometheus'
  | 'connection-info';

export interface ListenerOptions {
  readonly name: string;
  readonly resources: readonly { readonly name: Resource }[];
  readonly binds: readonly Bind[];
  /** Starts with a slash and ends without one; undefined: resources are mounted at the root. */
  readonly prefix: string | undefined;
  /** Connections are encrypted. */
  readonly tls?: TlsOptions | undefined;
  /** Every connection begins with a header of the PROXY protocol. */
  readonly proxyProtocol?: ProxyProtocol | undefined;
}

export interface ProxyProtocol {
  /** Peers that may connect, and those of Unix sockets; undefined: all of them. */
  readonly from: readonly Cidr[] | undefined;
}

export interface TlsOptions {
  /** PEM chain, the server's own certificate first. */
  readonly certificate: Secret;
  readonly key: Secret;
  /** `base64`: the key is DER, written in base64. */
  readonly keyEncoding: 'utf8' | 'base64';
  /** Of an encrypted key. */
  readonly password: Secret | undefined;
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
}

export type Bind = TcpBind | SocketBind | InheritedBind;

export interface TcpBind {
  /** IP literal or a name, all of whose addresses are bound; undefined: every address, IPv6 and IPv4. */
  readonly host: string | undefined;
  /** 0 picks a free one. */
  readonly port: number;
}

export interface SocketBind {
  /** Absolute path of a Unix socket. */
  readonly socket: string;
  /** Permission bits; undefined: as the umask of the process leaves them. */
  readonly mode: number | undefined;
}

/** A socket that the service manager listens on and passes to the process. */
export interface InheritedBind {
  /** Position among those that were passed, or the name of one. */
  readonly inherited: number | string;
  readonly kind: 'tcp' | 'unix';
}

/** What a service manager says of the sockets that it passes (sd_listen_fds(3)), as in the environment. */
export interface ListenVariables {
  /** The process that they are for; undefined: not said. */
  readonly pid?: string | undefined;
  readonly count?: string | undefined;
  /** Separated by colons. */
  readonly names?: string | undefined;
}

/** What one server takes on at most, and how long it waits. */
export interface HttpLimits {
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  readonly handshakeTimeoutSeconds: number;
  readonly headersTimeoutSeconds: number;
  readonly requestTimeoutSeconds: number;
  readonly handlerTimeoutSeconds: number;
  readonly keepAliveTimeoutSeconds: number;
  readonly maxRequestsPerConnection: number;
  /** Requests that a connection of HTTP/2 may have open at once. */
  readonly maxConcurrentStreams: number;
  readonly maxRequestLineBytes: number;
  readonly maxHeadersBytes: number;
  readonly maxBody: { readonly formBytes: number; readonly jsonBytes: number; readonly adminBytes: number };
  readonly maxInFlight: number;
  /** Of one process, for each caller. */
  readonly work: WorkLimits;
  readonly drainDelaySeconds: number;
  readonly shutdownTimeoutSeconds: number;
}

/** The address under which the service is reached from outside. */
export interface PublicAddress {
  readonly isHttps: boolean;
  /** Begins and ends with `/`; also the path of cookies. */
  readonly basePath: string;
}
