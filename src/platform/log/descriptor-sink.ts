import { close, closeSync, constants, fstatSync, openSync, write, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { isatty } from 'node:tty';
import { metrics } from '#platform/base/metrics.ts';
import { isErrno } from '#platform/base/system-errors.ts';
import type { LogOptions } from './log-options.ts';

const FLUSH_AFTER_MS = 20;
const FLUSH_AT_CHARACTERS = 16 * 1024;
const MAX_WAITING_CHARACTERS = 8 * 1024 * 1024;
const MAX_WRITE_BYTES = 64 * 1024;
/** Pipe writes of up to this many bytes are atomic (POSIX `PIPE_BUF` on Linux). */
const MAX_PIPE_WRITE_BYTES = 4096;
const RETRY_AFTER_MS = 10;
/** Maximum time that the process waits on exit for a slow or stopped reader. */
const MAX_FINAL_FLUSH_MS = 1000;
/** A write takes well under a millisecond. One that takes this long is waiting for a reader. */
const BLOCKED_AFTER_MS = 50;
const LINE_FEED = 10;

/** Receives finished lines. Each ends with a line feed. */
export interface LogSink {
  write(line: string): void;
}

/**
 * Writes lines to a file, pipe or terminal. Lines are batched for at most 20 ms or 16 KiB. Only whole lines are
 * written, one write at a time, never on the main thread, so a stopped reader cannot block the service. While a write
 * is blocked, up to 8 MiB of lines are queued, and further lines are dropped and counted. A failed write, as on a full
 * disk, loses only its own lines, which are counted as well.
 */
export class DescriptorSink implements LogSink {
  readonly #descriptor: number;
  readonly #maxWriteBytes: number;
  /** Whether `close` closes the descriptor. */
  readonly #isFile: boolean;
  /** Called with the number of dropped lines when writing has recovered. */
  onDropped: (count: number) => void = () => {};
  #droppedSince = 0;
  #dropped = 0;
  #waiting = '';
  #timer: NodeJS.Timeout | undefined;
  /** The bytes being written, how many are done, and where the current write ends. */
  #writing: Buffer | undefined;
  #written = 0;
  #chunkEnd = 0;
  #chunkStartedAt = 0;
  /** A write has started and not returned yet. False between a refused write and its retry. */
  #isInProgress = false;
  /** A failed write left an incomplete line, and the next write must not continue it. */
  #isInsideLine = false;
  #idle: (() => void)[] = [];

  /** @param isFile whether the descriptor belongs to this sink alone */
  constructor(descriptor: number, isFile = false) {
    this.#descriptor = descriptor;
    this.#isFile = isFile;
    this.#maxWriteBytes = maxWriteBytes(descriptor);
  }

  /** Number of lines dropped since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  get isTerminal(): boolean {
    return isatty(this.#descriptor);
  }

  write(line: string): void {
    if (this.#waiting.length + line.length > MAX_WAITING_CHARACTERS) {
      this.#drop(1);
      return;
    }
    this.#waiting += line;
    if (this.#waiting.length >= FLUSH_AT_CHARACTERS) this.#beginWriting();
    else this.#timer ??= setTimeout(() => this.#beginWriting(), FLUSH_AFTER_MS).unref();
  }

  /** Resolves when all lines received so far have been written or lost. */
  flush(): Promise<void> {
    this.#beginWriting();
    if (this.#writing === undefined) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /**
   * Writes all queued lines synchronously, for fatal errors and process exit. Gives up after `MAX_FINAL_FLUSH_MS` if
   * the reader of a pipe or socket has stopped, so that the process can exit. Does nothing while a write on another
   * thread is blocked.
   */
  flushSync(): void {
    const lasts = performance.now() - this.#chunkStartedAt;
    if (this.#isInProgress && lasts > BLOCKED_AFTER_MS) return;
    // The other thread may not have started yet, and writing here could fill the pipe first.
    if (this.#isInProgress) sleep(BLOCKED_AFTER_MS - lasts);
    const begun = this.#writing?.subarray(this.#isInProgress ? this.#chunkEnd : this.#written) ?? Buffer.alloc(0);
    const rest = Buffer.concat([begun, begun.length === 0 ? this.#takeWaiting() : Buffer.from(this.#waiting)]);
    this.#waiting = '';
    if (rest.length === 0) return;
    try {
      writeBefore(performance.now() + MAX_FINAL_FLUSH_MS, this.#descriptor, rest, this.#maxWriteBytes);
    } catch {
      // The process is exiting, and there is nowhere left to report the error.
    }
  }

  /** Writes the queued lines and closes the file. Standard output and standard error stay open. */
  async close(): Promise<void> {
    await this.flush();
    if (this.#isFile) close(this.#descriptor, () => {});
  }

  #beginWriting(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#writing !== undefined || this.#waiting === '') return;
    this.#writing = this.#takeWaiting();
    this.#written = 0;
    this.#writeChunk(this.#writing);
  }

  #takeWaiting(): Buffer {
    const bytes = Buffer.from(this.#isInsideLine && this.#waiting !== '' ? `\n${this.#waiting}` : this.#waiting);
    this.#waiting = '';
    return bytes;
  }

  #writeChunk(bytes: Buffer): void {
    this.#chunkEnd = endOfChunk(bytes, this.#written, this.#maxWriteBytes);
    this.#chunkStartedAt = performance.now();
    this.#isInProgress = true;
    write(this.#descriptor, bytes, this.#written, this.#chunkEnd - this.#written, null, (error, written) => {
      this.#isInProgress = false;
      if (error?.code === 'EAGAIN') {
        setTimeout(() => this.#writeChunk(bytes), RETRY_AFTER_MS);
        return;
      }
      if (error === null) this.#written += written;
      if (this.#written > 0) this.#isInsideLine = bytes[this.#written - 1] !== LINE_FEED;
      if (error !== null) this.#drop(linesIn(bytes.subarray(this.#written)));
      if (error === null && this.#written < bytes.length) this.#writeChunk(bytes);
      else this.#endWriting(error === null);
    });
  }

  #drop(count: number): void {
    this.#dropped += count;
    metrics?.count('latchkey_log_dropped_total', {}, count);
    this.#droppedSince += count;
  }

  /**
   * @param isWritten dropped lines are reported only after a successful write; otherwise the report would be lost too
   */
  #endWriting(isWritten: boolean): void {
    this.#writing = undefined;
    if (isWritten && this.#droppedSince > 0) {
      const count = this.#droppedSince;
      this.#droppedSince = 0;
      this.onDropped(count);
    }
    if (this.#waiting !== '') {
      this.#beginWriting();
      return;
    }
    const idle = this.#idle;
    this.#idle = [];
    for (const resolve of idle) resolve();
  }
}

/** Opens the sink for `logging.output`. A file is opened for append and is readable only by its owner. */
export function openSink(output: LogOptions['output']): DescriptorSink {
  if (output === 'stderr') return new DescriptorSink(nonBlocking(2));
  if (output === 'stdout') return new DescriptorSink(nonBlocking(1));
  return new DescriptorSink(openLogFile(output.path), true);
}

function openLogFile(path: string): number {
  const opened = openSync(path, 'a', 0o600);
  const descriptor = nonBlocking(opened);
  if (descriptor !== opened) closeSync(opened);
  return descriptor;
}

function isPipeOrSocket(descriptor: number): boolean {
  const status = fstatSync(descriptor);
  return status.isFIFO() || status.isSocket();
}

function maxWriteBytes(descriptor: number): number {
  return isPipeOrSocket(descriptor) ? MAX_PIPE_WRITE_BYTES : MAX_WRITE_BYTES;
}

/**
 * Returns a descriptor whose writes to a pipe or socket do not block: a thread blocked in a write would keep the
 * process from exiting. A pipe is reopened, since other processes share the mode of the given descriptor. Where that
 * fails (sockets, a pipe of another user, other systems), the shared mode is changed, as Node does for
 * `process.stdout`. Node offers that only through a stream around the descriptor.
 */
function nonBlocking(descriptor: number): number {
  if (!isPipeOrSocket(descriptor)) return descriptor;
  try {
    return openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    new Socket({ fd: descriptor, readable: false, writable: true }).unref();
    return descriptor;
  }
}

/** Writes whole lines until all are written or `deadline` (`performance.now()`) has passed. Blocks the thread. */
function writeBefore(deadline: number, descriptor: number, bytes: Buffer, limit: number): void {
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(descriptor, bytes, written, endOfChunk(bytes, written, limit) - written);
    } catch (error) {
      if (!isErrno(error, 'EAGAIN') || performance.now() >= deadline) throw error;
      sleep(RETRY_AFTER_MS);
    }
  }
}

/** Blocks the thread. */
function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/**
 * Counts the lines whose end is in `bytes`. No line is empty, so a leading line feed ends a line already written in
 * part.
 */
function linesIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_FEED, 1); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) count += 1;
  return count;
}

/** Returns the end of the last whole line within `limit` bytes from `start`, or of the first line if it is longer. */
function endOfChunk(bytes: Buffer, start: number, limit: number): number {
  if (bytes.length - start <= limit) return bytes.length;
  const lastLine = bytes.lastIndexOf(LINE_FEED, start + limit - 1);
  if (lastLine >= start) return lastLine + 1;
  const firstLine = bytes.indexOf(LINE_FEED, start);
  return firstLine === -1 ? bytes.length : firstLine + 1;
}
