import { Readable } from 'node:stream';

/** Returns a log as a stream, like standard input. */
export function logOf(lines: readonly string[]): Readable {
  return Readable.from([Buffer.from(lines.map((line) => `${line}\n`).join(''))]);
}
