import { isUtf8 } from 'node:buffer';
import { LatchkeyError } from '#platform/base/errors.ts';
import { resumeTask, type Task } from '#platform/base/tasks.ts';
import { FormParameters } from './form-parameters.ts';
import type { ReceivedRequest } from './message.ts';

/** Slower senders, once `SLOW_AFTER_MS` have passed, are cut off: they hold a connection for next to nothing. */
const MIN_BYTES_PER_SECOND = 1024;
const SLOW_AFTER_MS = 5000;

/** The body of one request: read when a handler asks for it, each chunk a stretch of the request's task. */
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

  /** What is missing of it will not be waited for. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** True while a handler waits for the rest of the body. */
  get isBeingRead(): boolean {
    return this.#reject !== undefined;
  }

  /** Bytes that the head announces; undefined when their number is not known beforehand. */
  get announcedBytes(): number | undefined {
    const { headers, httpVersion } = this.#request;
    if (headers['transfer-encoding'] !== undefined) return undefined;
    const length = headers['content-length'];
    // The frames of HTTP/2 say themselves where a body ends.
    if (length === undefined && httpVersion === '2.0' && !this.#request.complete) return undefined;
    return Number(length ?? 0);
  }

  /** The connection failed before the body was complete: each reader gets this, now or later. */
  fail(failure: LatchkeyError): void {
    this.#failure ??= failure;
    const reject = this.#reject;
    if (reject === undefined) return;
    this.#reject = undefined;
    resumeTask(this.#task, () => reject(failure));
  }

  /**
   * Fails the reading when the sender is too slow.
   * @param now `performance.now()`
   * @param maxMs for the whole body, which Node.js itself heeds in HTTP/1 only
   */
  failIfSlow(now: number, maxMs: number): void {
    if (this.#reject === undefined) return;
    const elapsed = now - this.#startedAt;
    const isSlow = elapsed >= SLOW_AFTER_MS && (this.#receivedBytes / elapsed) * 1000 < MIN_BYTES_PER_SECOND;
    if (isSlow || elapsed > maxMs) this.fail(new LatchkeyError('request_timeout'));
  }

  /**
   * All bytes. Throws `body_too_large` without reading when the announced length exceeds `maxBytes`, else at the
   * chunk that exceeds it, and `unsupported_media_type` for a compressed body.
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
        // Saves the stretch that the end event would begin.
        if (this.#receivedBytes === announced) complete();
      };
      request.on('data', (chunk: Buffer) => resumeTask(this.#task, () => receive(chunk)));
      request.on('end', () => {
        if (this.#receivedBytes !== announced && this.#reject !== undefined) resumeTask(this.#task, complete);
      });
      // Without a listener the abort of the request would be an uncaught error; `close` follows it.
      request.on('error', () => {});
      request.on('close', () => {
        if (!request.complete)
          this.fail(new LatchkeyError('malformed_request', { description: 'the body is cut off' }));
      });
    });
  }
}

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?$/i;

/** Whether a `Content-Type` is that of a form in UTF-8. */
export function isFormType(contentType: string | undefined): boolean {
  return contentType !== undefined && FORM_TYPE.test(contentType.trim());
}

/** The fields of a form. Throws `malformed_request` for invalid UTF-8 or percent-encoding, NUL and too many fields. */
export function parseForm(body: Buffer): FormParameters {
  const form = isUtf8(body) ? FormParameters.parse(body.toString()) : undefined;
  if (form === undefined) {
    throw new LatchkeyError('malformed_request', { description: 'the form cannot be decoded' });
  }
  return form;
}

const MAX_FIELD_CHARACTERS = 8192;
/** A passkey's answer, the one field that may be larger. */
const LARGE_FIELD = 'credential';
const MAX_LARGE_FIELD_CHARACTERS = 32_768;

/** The rules for forms of our own pages (browser-flows 1). Throws `malformed_request`. */
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
