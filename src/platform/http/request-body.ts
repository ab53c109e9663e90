import { isUtf8 } from 'node:buffer';
import { LatchkeyError } from '#platform/base/errors.ts';
import { resumeTask, type Task } from '#platform/base/tasks.ts';
import { FormParameters } from './form-parameters.ts';
import type { ReceivedRequest } from './message.ts';

/** After `SLOW_AFTER_MS`, slower senders are disconnected, since they occupy a connection at almost no cost. */
const MIN_BYTES_PER_SECOND = 1024;
const SLOW_AFTER_MS = 5000;

/** The body of one request. It is read on demand, and each chunk is a stretch of the request's task. */
export class RequestBody {
  readonly #request: ReceivedRequest;
  readonly #task: Task;
  #failure: LatchkeyError | undefined;
  #reject: ((failure: LatchkeyError) => void) | undefined;
  #receivedBytes = 0;
  #startedAt = 0;

  constructor(request: ReceivedRequest, task: Task) {
    this.#request = request;
    this.#task = task;
  }

  /** The rest of the body will not be read. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** A handler is waiting for the rest of the body. */
  get isBeingRead(): boolean {
    return this.#reject !== undefined;
  }

  /** Body length according to the head. Undefined if it is not known in advance. */
  get announcedBytes(): number | undefined {
    const { headers, httpVersion } = this.#request;
    if (headers['transfer-encoding'] !== undefined) return undefined;
    const length = headers['content-length'];
    // HTTP/2 frames mark the end of the body.
    if (length === undefined && httpVersion === '2.0' && !this.#request.complete) return undefined;
    return Number(length ?? 0);
  }

  /** Reports that the connection failed before the body was complete. Current and later reads fail with this error. */
  fail(failure: LatchkeyError): void {
    this.#failure ??= failure;
    const reject = this.#reject;
    if (reject === undefined) return;
    this.#reject = undefined;
    resumeTask(this.#task, () => reject(failure));
  }

  /** Extends the time that the sender has. */
  extendDeadline(byMs: number): void {
    this.#startedAt += byMs;
  }

  /**
   * Fails a pending read if the sender is too slow.
   * @param now `performance.now()`
   * @param maxMs for the whole body; Node.js enforces this only for HTTP/1
   */
  failIfSlow(now: number, maxMs: number): void {
    if (this.#reject === undefined) return;
    const elapsed = now - this.#startedAt;
    const isSlow = elapsed >= SLOW_AFTER_MS && (this.#receivedBytes / elapsed) * 1000 < MIN_BYTES_PER_SECOND;
    if (isSlow || elapsed > maxMs) this.fail(new LatchkeyError('request_timeout'));
  }

  /**
   * Reads the whole body. Throws `body_too_large` before reading if the declared length exceeds `maxBytes`, otherwise
   * at the chunk that exceeds it. Throws `unsupported_media_type` for a compressed body.
   */
  read(maxBytes: number): Promise<Buffer> {
    const request = this.#request;
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
      throw new LatchkeyError('unsupported_media_type', { description: 'Content-Encoding is not supported' });
    }
    const announced = this.announcedBytes;
    if (announced !== undefined && announced > maxBytes) throw new LatchkeyError('body_too_large');
    if (this.#failure !== undefined) throw this.#failure;
    if (announced === 0) return Promise.resolve(Buffer.alloc(0));
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      this.#startedAt = performance.now();
      const chunks: Buffer[] = [];
      const complete = (): void => {
        this.#reject = undefined;
        resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
      };
      const receive = (chunk: Buffer): void => {
        if (this.#reject === undefined) return;
        this.#receivedBytes += chunk.length;
        if (this.#receivedBytes > maxBytes) {
          this.#reject = undefined;
          reject(new LatchkeyError('body_too_large'));
          return;
        }
        chunks.push(chunk);
        // Saves the extra stretch of the end event.
        if (this.#receivedBytes === announced) complete();
      };
      request.on('data', (chunk: Buffer) => resumeTask(this.#task, () => receive(chunk)));
      request.on('end', () => {
        if (this.#receivedBytes !== announced && this.#reject !== undefined) resumeTask(this.#task, complete);
      });
      // Without a listener, an aborted request would be an uncaught error. `close` follows it.
      request.on('error', () => {});
      request.on('close', () => {
        if (!request.complete)
          this.fail(new LatchkeyError('malformed_request', { description: 'the request body is incomplete' }));
      });
    });
  }
}

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?$/i;

/** Returns whether a `Content-Type` is a form in UTF-8. */
export function isFormType(contentType: string | undefined): boolean {
  return contentType !== undefined && FORM_TYPE.test(contentType.trim());
}

/** Parses a form. Throws `malformed_request` for invalid UTF-8 or percent-encoding, NUL and too many fields. */
export function parseForm(body: Buffer): FormParameters {
  const form = isUtf8(body) ? FormParameters.parse(body.toString()) : undefined;
  if (form === undefined) {
    throw new LatchkeyError('malformed_request', { description: 'the form cannot be decoded' });
  }
  return form;
}

const MAX_FIELD_CHARACTERS = 8192;
/** A passkey response, the only field that may be larger. */
const LARGE_FIELD = 'credential';
const MAX_LARGE_FIELD_CHARACTERS = 32_768;

/** Enforces the rules for forms of our own pages (browser-flows 1). Throws `malformed_request`. */
export function requirePageForm(form: FormParameters): void {
  const repeated = form.firstRepeated();
  if (repeated !== undefined) throw new LatchkeyError('malformed_request', { description: 'a field is repeated' });
  for (const name of form.names()) {
    const length = form.get(name)?.length ?? 0;
    if (length > (name === LARGE_FIELD ? MAX_LARGE_FIELD_CHARACTERS : MAX_FIELD_CHARACTERS)) {
      throw new LatchkeyError('malformed_request', { description: 'a field is too long' });
    }
  }
}
