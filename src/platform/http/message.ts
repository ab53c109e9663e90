/** What the server needs of a request and of its response, whichever version of HTTP they are of. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';

/** An `IncomingMessage` of node:http, or an `Http2Request`. */
export interface ReceivedRequest {
  readonly method?: string | undefined;
  /** The target as received. */
  readonly url?: string | undefined;
  readonly httpVersion: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
  /** Its body has arrived to the last byte. */
  readonly complete: boolean;
  /** Why the parser refused it; undefined for a request that was read whole. */
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
  /** Throws for what a header must not contain. */
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown;
  end(body?: string | Buffer): unknown;
  once(event: 'close' | 'finish', listener: () => void): unknown;
}
