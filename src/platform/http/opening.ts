/**
 * What comes before the first request of a connection: a header of the PROXY protocol, then the TLS handshake, both
 * within `limits.handshake_timeout`. A connection that does not bring them is closed without an answer.
 */
import { type SecureContext, TLSSocket } from 'node:tls';
import { Networks } from '#platform/base/ip-address.ts';
import type { Connection } from './connection.ts';
import type { RejectionReason, Rejections } from './connection-warnings.ts';
import type { Connections } from './connections.ts';
import type { ListenerOptions } from './http-options.ts';
import { parseProxyHeader } from './proxy-header.ts';
import { openCertificate, type ServedCertificate } from './tls-pair.ts';

/** Speaks one protocol on a connection that is open. */
export type Speaker = (connection: Connection) => void;

export interface OpeningOptions {
  readonly listener: Pick<ListenerOptions, 'proxyProtocol' | 'tls'>;
  readonly connections: Connections;
  readonly rejections: Rejections;
  /** `limits.handshake_timeout` as it is now. */
  timeoutMs(): number;
}

export class Opening {
  readonly #options: OpeningOptions;
  /** Who may send a PROXY header; undefined: everybody. */
  readonly #from: Networks | undefined;
  #certificate: ServedCertificate | undefined;

  /** @throws Error when the certificate cannot be used */
  constructor(options: OpeningOptions) {
    const { proxyProtocol, tls } = options.listener;
    this.#options = options;
    this.#from = proxyProtocol?.from === undefined ? undefined : new Networks(proxyProtocol.from);
    this.#certificate = tls === undefined ? undefined : openCertificate(tls);
  }

  /** That connections get now; undefined without TLS. */
  get certificate(): ServedCertificate | undefined {
    return this.#certificate;
  }

  /** Connections from now on get this certificate. */
  useCertificate(certificate: ServedCertificate): void {
    if (this.#certificate !== undefined) this.#certificate = certificate;
  }

  /**
   * Opens a connection and hands it to who speaks the protocol that its peer chose, unless it is closed before that.
   * @param speakers by the name that ALPN has for the protocol (RFC 7301 6), the preferred one first; the last is
   * also for peers who name none
   */
  begin(connection: Connection, speakers: ReadonlyMap<string, Speaker>): void {
    const { socket } = connection;
    const { listener, timeoutMs } = this.#options;
    const awaited = (): RejectionReason =>
      listener.proxyProtocol === undefined || connection.proxy !== undefined ? 'tls' : 'proxy';
    const timer = setTimeout(() => this.#reject(connection, awaited()), timeoutMs());
    socket.once('close', () => clearTimeout(timer));
    socket.on('error', () => {});
    const finish = (protocol: string | undefined): void => {
      clearTimeout(timer);
      const speak = speakers.get(protocol ?? '') ?? [...speakers.values()].at(-1);
      speak?.(connection);
    };
    const secure = (): void => {
      if (this.#certificate === undefined) finish(undefined);
      else this.#encrypt(connection, this.#certificate.context, [...speakers.keys()], finish);
    };
    if (listener.proxyProtocol === undefined) secure();
    else this.#readProxyHeader(connection, secure);
  }

  #readProxyHeader(connection: Connection, then: () => void): void {
    const { socket, peer } = connection;
    if (this.#from !== undefined && peer.address !== undefined && !this.#from.has(peer.address)) {
      this.#reject(connection, 'proxy');
      return;
    }
    let received = Buffer.alloc(0);
    const end = (): void => {
      socket.off('readable', read);
      socket.off('end', refuse);
    };
    const refuse = (): void => {
      end();
      // Load balancers connect and leave, to see whether anybody is there.
      if (received.length > 0) this.#reject(connection, 'proxy');
      else connection.cut();
    };
    const read = (): void => {
      const chunk: Buffer | null = socket.read();
      if (chunk === null) return;
      received = Buffer.concat([received, chunk]);
      const header = parseProxyHeader(received);
      if (header.kind === 'incomplete') return;
      if (header.kind === 'invalid') {
        refuse();
        return;
      }
      end();
      socket.unshift(received.subarray(header.length));
      if (this.#options.connections.identify(connection, header)) then();
      else this.#options.rejections.report('limit', undefined, connection.peer.address);
    };
    socket.on('readable', read);
    socket.on('end', refuse);
  }

  #encrypt(
    connection: Connection,
    secureContext: SecureContext,
    protocols: readonly string[],
    then: (protocol: string | undefined) => void,
  ): void {
    const { socket } = connection;
    // As servers of node:tls have it: the end of the one is the end of the other.
    socket.allowHalfOpen = false;
    const secured = new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: [...protocols] });
    let isEstablished = false;
    secured.once('secure', () => {
      isEstablished = true;
      this.#options.connections.continueOn(connection, secured);
      then(typeof secured.alpnProtocol === 'string' ? secured.alpnProtocol : undefined);
    });
    // Where Node.js reports every failure of TLS.
    secured.on('_tlsError', () => {
      if (isEstablished) secured.destroy();
      else this.#reject(connection, 'tls');
    });
    secured.on('error', () => {});
  }

  #reject(connection: Connection, reason: RejectionReason): void {
    this.#options.rejections.report(reason, undefined, connection.peer.address);
    connection.cut();
  }
}
