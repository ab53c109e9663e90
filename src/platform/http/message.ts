/** The parts of a request and a response that the server needs, independent of the HTTP version. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';

/** An `IncomingMessage` of node:http, or an `Http2Request`. */
export interface ReceivedRequest {
  readonly method?: string | undefined;
  /** The target as received. */
  readonly url?: string | undefined;
  readonly httpVersion: string;
  readonly headers: IncomingHttpHeaders;
  /** Alternating names and values. */
  readonly rawHeaders: readonly string[];
  /** The body has been received completely. */
  readonly complete: boolean;
  /** Why the parser rejected it. Undefined for requests that were parsed completely. */
  readonly refusal?: 'malformed_request' | 'headers_too_large';
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'close' | 'end' | 'error', listener: () => void): unknown;
}

/** A `ServerResponse` of node:http, or an `Http2Response`. */
export interface OutgoingResponse {
  /** Nothing more can be sent. */
  readonly closed: boolean;
  readonly destroyed: boolean;
  readonly writableFinished: boolean;
  readonly socket: Socket | null;
  writeContinue(): void;
  /** Throws if a header value is invalid. */
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown;
  /** Sends a part of the body. Calls back when the peer can take the next one. Never does if the response is closed. */
  write(part: Buffer, onTaken: () => void): unknown;
  end(body?: string | Buffer): unknown;
  /** Ends an HTTP/2 stream, or the connection of an HTTP/1 response, without completing the body. */
  destroy(): unknown;
  once(event: 'close' | 'finish', listener: () => void): unknown;
}
