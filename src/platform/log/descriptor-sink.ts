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
/** A write of up to this many bytes to a pipe is never torn by another writer's (POSIX `PIPE_BUF` on Linux). */
const MAX_PIPE_WRITE_BYTES = 4096;
const RETRY_AFTER_MS = 10;
/** How long the end of the process waits for a reader that is slow or has stopped. */
const MAX_FINAL_FLUSH_MS = 1000;
/** A write takes well under a millisecond; one that takes this long waits for a reader. */
const BLOCKED_AFTER_MS = 50;
const LINE_FEED = 10;

/** Where finished lines go; each ends with a line feed. */
export interface LogSink {
  write(line: string): void;
}

/**
 * Writes lines to a file, pipe or terminal: gathered for at most 20 ms or 16 KiB, whole lines per write, one write at
 * a time and never on the main thread, so that a reader that stops reading does not block the service. While it is
 * blocked up to 8 MiB wait, further lines are dropped and counted. A failing write, as on a full disk, loses its lines,
 * which are counted as well, and nothing else.
 */
export class DescriptorSink implements LogSink {
  readonly #descriptor: number;
  readonly #maxWriteBytes: number;
  /** It is closed at the end. */
  readonly #isFile: boolean;
  /** Called with the number of dropped lines once lines can be written again. */
  onDropped: (count: number) => void = () => {};
  #droppedSince = 0;
  #dropped = 0;
  #waiting = '';
  #timer: NodeJS.Timeout | undefined;
  /** The bytes being written, how many of them have been, and where the current write ends. */
  #writing: Buffer | undefined;
  #written = 0;
  #chunkEnd = 0;
  #chunkStartedAt = 0;
  /** A write was started and has not returned. False between a refused write and its repetition. */
  #isUnderWay = false;
  /** A failing write left half a line behind, which the next one must not go on. */
  #isInsideLine = false;
  #idle: (() => void)[] = [];

  /** @param isFile the descriptor is for this sink alone */
  constructor(descriptor: number, isFile = false) {
    this.#descriptor = descriptor;
    this.#isFile = isFile;
    this.#maxWriteBytes = maxWriteBytes(descriptor);
  }

  /** Lines dropped since the start. */
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

  /** Resolves when all lines handed over so far were written or lost. */
  flush(): Promise<void> {
    this.#beginWriting();
    if (this.#writing === undefined) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /**
   * Writes all waiting lines before it returns: for fatal errors and the end of the process. Gives up after
   * `MAX_FINAL_FLUSH_MS` when the reader of a pipe or socket has stopped: the process must be able to end. Does nothing
   * while a write on another thread is blocked.
   */
  flushSync(): void {
    const lasts = performance.now() - this.#chunkStartedAt;
    if (this.#isUnderWay && lasts > BLOCKED_AFTER_MS) return;
    // The other thread may not have begun, and what is written here could fill the pipe before it.
    if (this.#isUnderWay) sleep(BLOCKED_AFTER_MS - lasts);
    const begun = this.#writing?.subarray(this.#isUnderWay ? this.#chunkEnd : this.#written) ?? Buffer.alloc(0);
    const rest = Buffer.concat([begun, begun.length === 0 ? this.#takeWaiting() : Buffer.from(this.#waiting)]);
    this.#waiting = '';
    if (rest.length === 0) return;
    try {
      writeBefore(performance.now() + MAX_FINAL_FLUSH_MS, this.#descriptor, rest, this.#maxWriteBytes);
    } catch {
      // The process ends: there is nowhere left to report it.
    }
  }

  /** Writes what waits and closes the file; standard output and standard error stay open. */
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
    this.#isUnderWay = true;
    write(this.#descriptor, bytes, this.#written, this.#chunkEnd - this.#written, null, (error, written) => {
      this.#isUnderWay = false;
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

  /** @param isWritten only then what was dropped is told: the line that tells it would be lost too */
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

/** The sink of `logging.output`; a file is opened for append and readable by its owner alone. */
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
 * A descriptor on which no write to a pipe or socket waits for its reader: a thread that is blocked in a write would
 * keep the process from ending. A pipe is opened again, since the mode of the given descriptor is shared with other
 * processes. Where that fails (sockets, a pipe of another user, other systems) the shared mode is changed, as Node
 * does for `process.stdout`; Node offers that only by a stream around the descriptor.
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

/** Lines of which at least the end is here. No line is empty, so a first line feed ends one whose text was written. */
function linesIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_FEED, 1); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) count += 1;
  return count;
}

/** End of the last whole line within `limit` bytes from `start`; of the first line when that alone is longer. */
function endOfChunk(bytes: Buffer, start: number, limit: number): number {
  if (bytes.length - start <= limit) return bytes.length;
  const lastLine = bytes.lastIndexOf(LINE_FEED, start + limit - 1);
  if (lastLine >= start) return lastLine + 1;
  const firstLine = bytes.indexOf(LINE_FEED, start);
  return firstLine === -1 ? bytes.length : firstLine + 1;
}
