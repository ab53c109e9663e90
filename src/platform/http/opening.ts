/**
 * Handles what precedes the first request of a connection: a PROXY protocol header and the TLS handshake, both within
 * `limits.handshake_timeout`. If they fail, the connection is closed without a response. Without TLS, the first bytes
 * can tell HTTP/2 from HTTP/1.1.
 */
import { type SecureContext, TLSSocket } from 'node:tls';
import { Networks } from '#platform/base/ip-address.ts';
import type { Connection } from './connection.ts';
import type { RejectionReason, Rejections } from './connection-warnings.ts';
import type { Connections } from './connections.ts';
import type { ListenerOptions } from './http-options.ts';
import { afterPendingEvents } from './pending-events.ts';
import { parseProxyHeader, startsLike } from './proxy-header.ts';
import { openCertificate, type ServedCertificate } from './tls-pair.ts';

/** What an HTTP/2 client sends first (RFC 9113 3.4). */
const HTTP2_PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** Serves one protocol on an open connection. */
export type Speaker = (connection: Connection) => void;

export interface OpeningOptions {
  readonly listener: Pick<ListenerOptions, 'proxyProtocol' | 'tls'>;
  readonly connections: Connections;
  readonly rejections: Rejections;
  /** The current `limits.handshake_timeout`. */
  timeoutMs(): number;
  /** The current `limits.headers_timeout`. */
  headersTimeoutMs(): number;
}

export class Opening {
  readonly #options: OpeningOptions;
  /** Networks that may send a PROXY header. Undefined allows all. */
  readonly #from: Networks | undefined;
  #certificate: ServedCertificate | undefined;

  /** @throws Error if the certificate cannot be used */
  constructor(options: OpeningOptions) {
    const { proxyProtocol, tls } = options.listener;
    this.#options = options;
    this.#from = proxyProtocol?.from === undefined ? undefined : new Networks(proxyProtocol.from);
    this.#certificate = tls === undefined ? undefined : openCertificate(tls);
  }

  /** The certificate for new connections. Undefined without TLS. */
  get certificate(): ServedCertificate | undefined {
    return this.#certificate;
  }

  /** Uses this certificate for new connections. */
  useCertificate(certificate: ServedCertificate): void {
    if (this.#certificate !== undefined) this.#certificate = certificate;
  }

  /**
   * Opens a connection and passes it to the speaker of the protocol that its peer chose, unless it is closed before.
   * @param speakers by ALPN protocol name (RFC 7301 6), in order of preference; the last one also serves peers that
   * name none. `h2` needs TLS or a listener that allows it without
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
      if (this.#certificate === undefined && speakers.has('h2')) {
        clearTimeout(timer);
        this.#recognizeHttp2(connection, finish);
      } else if (this.#certificate === undefined) finish(undefined);
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
      // Load balancers connect and disconnect as a health check.
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

  /** Waits for the first bytes, for as long as HTTP/1.1 waits for a request. */
  #recognizeHttp2(connection: Connection, then: (protocol: string | undefined) => void): void {
    const { socket } = connection;
    let received = Buffer.alloc(0);
    let isRecognized = false;
    const timer = setTimeout(() => void giveUp(), this.#options.headersTimeoutMs());
    const stop = (): void => {
      isRecognized = true;
      clearTimeout(timer);
      socket.off('readable', read);
      socket.off('end', end);
      socket.off('close', stop);
    };
    const read = (): void => {
      const chunk: Buffer | null = socket.read();
      if (chunk === null) return;
      received = Buffer.concat([received, chunk]);
      const isHttp2 = startsLike(received, HTTP2_PREFACE);
      if (isHttp2 && received.length < HTTP2_PREFACE.length) return;
      stop();
      // Like node:tls servers: when one side ends, so does the other.
      if (isHttp2) socket.allowHalfOpen = false;
      socket.unshift(received);
      then(isHttp2 ? 'h2' : undefined);
    };
    const end = (): void => {
      stop();
      if (received.length > 0) this.#reject(connection, 'malformed');
      else connection.cut();
    };
    const giveUp = async (): Promise<void> => {
      // On a busy machine, the bytes may have arrived in time without being read.
      await afterPendingEvents();
      if (isRecognized) return;
      stop();
      if (received.length > 0) {
        this.#reject(connection, 'header_timeout');
        return;
      }
      this.#options.rejections.reportSilent(connection.peer.address);
      connection.cut();
    };
    socket.on('readable', read);
    socket.on('end', end);
    socket.on('close', stop);
    // What arrived together with a PROXY header has been read already.
    read();
  }

  #encrypt(
    connection: Connection,
    secureContext: SecureContext,
    protocols: readonly string[],
    then: (protocol: string | undefined) => void,
  ): void {
    const { socket } = connection;
    // Like node:tls servers: when one side ends, so does the other.
    socket.allowHalfOpen = false;
    const secured = new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: [...protocols] });
    let isEstablished = false;
    secured.once('secure', () => {
      isEstablished = true;
      this.#options.connections.continueOn(connection, secured);
      then(typeof secured.alpnProtocol === 'string' ? secured.alpnProtocol : undefined);
    });
    // Node.js reports every TLS failure with this event.
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
