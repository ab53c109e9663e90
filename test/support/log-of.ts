import { Readable } from 'node:stream';

/** A log as it comes on standard input. */
export function logOf(lines: readonly string[]): Readable {
  return Readable.from([Buffer.from(lines.map((line) => `${line}\n`).join(''))]);
}
