import type { Cidr } from '#platform/base/ip-address.ts';
import type { Secret } from '#platform/base/secret.ts';
import type { WorkLimits } from './work-budget.ts';

/** Network configuration of the server. */
export interface HttpOptions {
  readonly trustedProxies: readonly Cidr[];
  readonly clientIpHeader: 'x-forwarded-for' | 'forwarded' | 'none';
  readonly hsts: boolean;
  readonly listeners: readonly ListenerOptions[];
  readonly listenVariables?: ListenVariables;
}

/** The listener resource that a route belongs to. Listeners that do not mount it answer 404. */
export type Resource =
  | 'discovery'
  | 'human'
  | 'oauth'
  | 'compat'
  | 'graphql'
  | 'assets'
  | 'adminapi'
  | 'adminarea'
  | 'health'
  | 'prometheus'
  | 'connection-info';

export interface ListenerOptions {
  readonly name: string;
  readonly resources: readonly { readonly name: Resource }[];
  readonly binds: readonly Bind[];
  /** Starts with a slash and ends without one. Undefined mounts resources at the root. */
  readonly prefix: string | undefined;
  /** Set if connections are encrypted. */
  readonly tls?: TlsOptions | undefined;
  /** Also serves HTTP/2 to peers that start with its preface, without TLS (RFC 9113 3.3). */
  readonly cleartextHttp2?: boolean | undefined;
  /** Set if every connection starts with a PROXY protocol header. */
  readonly proxyProtocol?: ProxyProtocol | undefined;
}

export interface ProxyProtocol {
  /** Peers that may connect, in addition to those on Unix sockets. Undefined allows all. */
  readonly from: readonly Cidr[] | undefined;
}

export interface TlsOptions {
  /** PEM chain, starting with the server's own certificate. */
  readonly certificate: Secret;
  readonly key: Secret;
  /** `base64`: the key is base64-encoded DER. */
  readonly keyEncoding: 'utf8' | 'base64';
  /** Password of an encrypted key. */
  readonly password: Secret | undefined;
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
}

export type Bind = TcpBind | SocketBind | InheritedBind;

export interface TcpBind {
  /** IP address, or a host name (all its addresses are bound). Undefined binds every address, IPv6 and IPv4. */
  readonly host: string | undefined;
  /** 0 selects a free port. */
  readonly port: number;
}

export interface SocketBind {
  /** Absolute path of a Unix socket. */
  readonly socket: string;
  /** Permission bits. Undefined applies the umask of the process. */
  readonly mode: number | undefined;
}

/** A listening socket passed by the service manager. */
export interface InheritedBind {
  /** Index or name of the passed socket. */
  readonly inherited: number | string;
  readonly kind: 'tcp' | 'unix';
}

/** Environment variables of a service manager that describe the sockets it passes (sd_listen_fds(3)). */
export interface ListenVariables {
  /** The process that the sockets are intended for, if given. */
  readonly pid?: string | undefined;
  readonly count?: string | undefined;
  /** Separated by colons. */
  readonly names?: string | undefined;
}

/** Limits and timeouts of one server. */
export interface HttpLimits {
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  readonly handshakeTimeoutSeconds: number;
  readonly headersTimeoutSeconds: number;
  readonly requestTimeoutSeconds: number;
  readonly handlerTimeoutSeconds: number;
  readonly keepAliveTimeoutSeconds: number;
  readonly maxRequestsPerConnection: number;
  /** Maximum number of concurrent requests per HTTP/2 connection. */
  readonly maxConcurrentStreams: number;
  readonly maxRequestLineBytes: number;
  readonly maxHeadersBytes: number;
  readonly maxBody: { readonly formBytes: number; readonly jsonBytes: number; readonly adminBytes: number };
  readonly maxInFlight: number;
  /** Work budget per caller in one process. */
  readonly work: WorkLimits;
  readonly drainDelaySeconds: number;
  readonly shutdownTimeoutSeconds: number;
}

/** The public URL of the service. */
export interface PublicAddress {
  readonly isHttps: boolean;
  /** Starts and ends with `/`. Also the path of cookies. */
  readonly basePath: string;
}
