/**
 * What comes before the first request of a connection: the TLS handshake, within `limits.handshake_timeout`. A
 * connection that does not bring it is closed without an answer.
 */
import { type SecureContext, TLSSocket } from 'node:tls';
import type { Connection } from './connection.ts';
import type { Rejections } from './connection-warnings.ts';
import type { Connections } from './connections.ts';
import type { ListenerOptions } from './http-options.ts';
import { createTlsContext } from './tls-pair.ts';

/** Speaks one protocol on a connection that is open. */
export type Speaker = (connection: Connection) => void;

export interface OpeningOptions {
  readonly listener: Pick<ListenerOptions, 'tls'>;
  readonly connections: Connections;
  readonly rejections: Rejections;
  /** `limits.handshake_timeout` as it is now. */
  timeoutMs(): number;
}

export class Opening {
  readonly #options: OpeningOptions;
  #context: SecureContext | undefined;

  /** @throws Error when the certificate cannot be used */
  constructor(options: OpeningOptions) {
    const { tls } = options.listener;
    this.#options = options;
    this.#context = tls === undefined ? undefined : createTlsContext(tls);
  }

  /** Connections from now on get this certificate. */
  useContext(context: SecureContext): void {
    if (this.#context !== undefined) this.#context = context;
  }

  /**
   * Opens a connection and hands it to who speaks the protocol that its peer chose, unless it is closed before that.
   * @param speakers by the name that ALPN has for the protocol (RFC 7301 6), the preferred one first; the last is
   * also for peers who name none
   */
  begin(connection: Connection, speakers: ReadonlyMap<string, Speaker>): void {
    const { socket } = connection;
    const timer = setTimeout(() => this.#reject(connection), this.#options.timeoutMs());
    socket.once('close', () => clearTimeout(timer));
    socket.on('error', () => {});
    const finish = (protocol: string | undefined): void => {
      clearTimeout(timer);
      const speak = speakers.get(protocol ?? '') ?? [...speakers.values()].at(-1);
      speak?.(connection);
    };
    if (this.#context === undefined) finish(undefined);
    else this.#encrypt(connection, this.#context, [...speakers.keys()], finish);
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
      else this.#reject(connection);
    });
    secured.on('error', () => {});
  }

  #reject(connection: Connection): void {
    this.#options.rejections.report('tls', undefined, connection.peer.address);
    connection.cut();
  }
}
