/** Presents an HTTP/2 stream as the request and response types that the rest of the server uses. */
import { type OutgoingHttpHeaders, validateHeaderValue } from 'node:http';
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { OutgoingResponse, ReceivedRequest } from './message.ts';

/** Path of CONNECT requests, which name only a host. */
const NO_PATH = '*';
/** Responses are sent in parts of this size, to detect that the client reads at least 1 KiB a second. */
const SLICE_BYTES = 32 * 1024;

export class Http2Request implements ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly httpVersion = '2.0';
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly #stream: ServerHttp2Stream;

  /** @param rawHeaders pseudo-headers come first (RFC 9113 8.3) */
  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: readonly string[]) {
    this.method = headers[':method'] ?? '';
    this.url = headers[':path'] ?? NO_PATH;
    this.headers = headers;
    const first = rawHeaders.findIndex((text, index) => index % 2 === 0 && !text.startsWith(':'));
    this.rawHeaders = first === -1 ? [] : rawHeaders.slice(first);
    this.#stream = stream;
  }

  get complete(): boolean {
    return this.#stream.endAfterHeaders || this.#stream.readableEnded;
  }

  on(event: 'close' | 'data' | 'end' | 'error', listener: (chunk: Buffer) => void): void {
    this.#stream.on(event, listener);
  }
}

/** Learns what the client reads of a response. */
export interface ResponseProgress {
  /** A part is sent. @param hasTaken the client has read the previous part */
  onSlice(hasTaken: boolean): void;
  /** The client has read everything so far. The next part does not exist yet. */
  onPause(): void;
}

export class Http2Response implements OutgoingResponse {
  readonly socket = null;
  readonly #stream: ServerHttp2Stream;
  readonly #request: Http2Request;
  readonly #progress: ResponseProgress;
  #headers: OutgoingHttpHeaders = {};

  constructor(stream: ServerHttp2Stream, request: Http2Request, progress: ResponseProgress) {
    this.#stream = stream;
    this.#request = request;
    this.#progress = progress;
  }

  get closed(): boolean {
    return this.#stream.closed || this.#stream.destroyed;
  }

  get destroyed(): boolean {
    return this.closed;
  }

  get writableFinished(): boolean {
    return this.#stream.writableFinished;
  }

  writeContinue(): void {
    if (!this.closed) this.#stream.additionalHeaders({ ':status': 100 });
  }

  /** Sends nothing before `write` or `end`. */
  writeHead(status: number, headers: OutgoingHttpHeaders): void {
    for (const [name, value] of Object.entries(headers)) {
      for (const one of Array.isArray(value) ? value : [String(value)]) validateHeaderValue(name, one);
    }
    this.#headers = { ...headers, ':status': status };
  }

  write(part: Buffer, onTaken: () => void): void {
    if (this.closed) return;
    if (!this.#stream.headersSent) this.#stream.respond(this.#headers);
    this.#progress.onSlice(false);
    this.#stream.write(part, () => {
      this.#progress.onPause();
      onTaken();
    });
  }

  destroy(): void {
    // `close` would end the body before it resets the stream, and the client would take it for complete.
    if (!this.closed) this.#stream.destroy(new Error('the body could not be completed'));
  }

  end(body?: string | Buffer): void {
    if (this.closed) return;
    if (this.#stream.headersSent) {
      this.#stream.end();
      this.#finish();
      return;
    }
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const isEmpty = bytes === undefined || bytes.length === 0;
    this.#stream.respond(this.#headers, { endStream: isEmpty });
    if (isEmpty) this.#finish();
    else this.#send(bytes, false);
  }

  #send(bytes: Buffer, hasTaken: boolean): void {
    if (this.closed) return;
    this.#progress.onSlice(hasTaken);
    if (bytes.length > SLICE_BYTES) {
      this.#stream.write(bytes.subarray(0, SLICE_BYTES), () => this.#send(bytes.subarray(SLICE_BYTES), true));
    } else {
      this.#stream.end(bytes);
      this.#finish();
    }
  }

  #finish(): void {
    // Does not wait for the rest of a refused body (RFC 9113 8.1).
    if (!this.#request.complete) this.#stream.close();
  }

  once(event: 'close' | 'finish', listener: () => void): void {
    this.#stream.once(event, listener);
  }
}
