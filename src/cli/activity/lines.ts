/** Streams the lines of logs that do not fit into memory. */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { systemReason } from '#platform/base/system-errors.ts';

const CHUNK_BYTES = 256 * 1024;
/** Maximum length of a log line; request lines are far shorter. */
const MAX_LINE_CHARACTERS = 64 * 1024;
const CUT = '…';

/**
 * Yields the lines of a file in batches, without line terminators. `.gz` files are decompressed.
 * @param name of the file, for messages
 * @throws ExitError 1 if it cannot be read
 */
export async function* linesOfFile(path: string, name: string): AsyncGenerator<readonly string[]> {
  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  const unpacked = path.endsWith('.gz') ? file.pipe(createGunzip({ chunkSize: CHUNK_BYTES })) : file;
  file.on('error', (error) => unpacked.destroy(error));
  try {
    yield* linesOf(unpacked);
  } catch (error) {
    const isDamaged = error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
    const reason = isDamaged ? 'it is corrupted or not completely written' : systemReason(error);
    throw new ExitError(ExitCode.failure, `cannot read ${name}: ${reason}`, { cause: error });
  } finally {
    file.destroy();
  }
}

/** Yields the lines of a stream in batches. Lines beyond the maximum are truncated and end in `…`. */
export async function* linesOf(stream: Readable): AsyncGenerator<readonly string[]> {
  stream.setEncoding('utf8');
  let rest = '';
  let isSkipping = false;
  for await (const chunk of stream) {
    const lines = String(chunk).split('\n');
    const last = lines.pop() ?? '';
    const first = lines.shift();
    if (first === undefined) {
      if (!isSkipping) rest += last;
    } else {
      yield [isSkipping ? '' : ended(rest + first), ...lines.map(ended)];
      rest = last;
      isSkipping = false;
    }
    if (rest.length <= MAX_LINE_CHARACTERS) continue;
    yield [ended(rest)];
    rest = '';
    isSkipping = true;
  }
  if (rest !== '') yield [ended(rest)];
}

function ended(line: string): string {
  if (line.length > MAX_LINE_CHARACTERS) return `${line.slice(0, MAX_LINE_CHARACTERS)}${CUT}`;
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
