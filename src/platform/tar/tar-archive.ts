/**
 * The subset of the ustar format (POSIX.1-1988) that our archives need: regular files only, each small enough to fit in
 * memory. The reader rejects everything else, so an archive cannot contain paths outside of it, links or devices.
 */

const BLOCK_BYTES = 512;
const MAX_NAME_BYTES = 100;
const REGULAR_FILE = '0';
/** Archivers pad archives to a multiple of this. */
const MAX_PADDING_BYTES = 64 * 1024;

/** The bytes are not an archive created by this program. */
export class TarProblem extends Error {}

export interface TarFile {
  readonly name: string;
  readonly content: Buffer;
}

/** Two empty blocks. */
export const END_OF_ARCHIVE = Buffer.alloc(2 * BLOCK_BYTES);

/**
 * Encodes one file of an archive, readable only by its owner.
 * @param now its modification time, in milliseconds since the epoch
 */
export function tarFile({ name, content }: TarFile, now: number): Buffer {
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) throw new Error(`the name is too long for an archive: ${name}`);
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(name, 0);
  header.write(octal(0o600, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(content.length, 11), 124);
  header.write(octal(Math.floor(now / 1000), 11), 136);
  header.write(REGULAR_FILE, 156);
  header.write('ustar\x0000', 257);
  header.write(`${octal(checksumOf(header), 6)}\0 `, 148);
  return Buffer.concat([header, content, Buffer.alloc(paddingOf(content.length))]);
}

/**
 * Reads the files of an archive one by one.
 * @param maxBytes returns the maximum size of a file with this name; undefined if the file is not allowed
 * @throws TarProblem
 */
export async function* readTarFiles(
  source: AsyncIterable<Buffer>,
  maxBytes: (name: string) => number | undefined,
): AsyncGenerator<TarFile> {
  const reader = new BlockReader(source);
  for (;;) {
    const header = await reader.read(BLOCK_BYTES);
    if (isEmpty(header)) break;
    const { name, size } = parseHeader(header);
    const limit = maxBytes(name);
    if (limit === undefined) throw new TarProblem(`it contains the unexpected file ${JSON.stringify(name)}`);
    if (size > limit) throw new TarProblem(`${name} is larger than expected`);
    const content = await reader.read(size);
    await reader.read(paddingOf(size));
    yield { name, content };
  }
  for (let padding = 0; ; ) {
    const rest = await reader.readAny();
    if (rest === undefined) return;
    padding += rest.length;
    if (padding > MAX_PADDING_BYTES || !isEmpty(rest)) throw new TarProblem('it contains data after its end');
  }
}

function parseHeader(header: Buffer): { readonly name: string; readonly size: number } {
  if (header.toString('latin1', 257, 262) !== 'ustar') throw new TarProblem('it is not a tar archive');
  const stored = numberAt(header, 148, 8);
  header.fill(' ', 148, 156);
  if (stored !== checksumOf(header)) throw new TarProblem('one of its headers is corrupted');
  const name = textAt(header, 0, MAX_NAME_BYTES);
  if (textAt(header, 345, 155) !== '') throw new TarProblem('one of its file names is too long');
  const kind = String.fromCharCode(header[156] ?? 0);
  if (kind !== REGULAR_FILE) throw new TarProblem(`${JSON.stringify(name)} is not a regular file`);
  return { name, size: numberAt(header, 124, 12) };
}

function numberAt(header: Buffer, start: number, length: number): number {
  const text = textAt(header, start, length).trim();
  if (!/^[0-7]{1,11}$/.test(text)) throw new TarProblem('one of its headers is corrupted');
  return Number.parseInt(text, 8);
}

function textAt(header: Buffer, start: number, length: number): string {
  return header.toString('utf8', start, start + length).split('\0')[0] ?? '';
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}

/** The checksum field itself counts as spaces. */
function checksumOf(header: Buffer): number {
  let sum = 0;
  for (const [index, byte] of header.entries()) sum += index >= 148 && index < 156 ? 0x20 : byte;
  return sum;
}

function paddingOf(size: number): number {
  return (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;
}

function isEmpty(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0);
}

/** Reassembles chunks of any size. */
class BlockReader {
  readonly #pieces: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#pieces = source[Symbol.asyncIterator]();
  }

  async read(size: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let missing = size; missing > 0; ) {
      const piece = await this.readAny();
      if (piece === undefined) throw new TarProblem('it is truncated');
      pieces.push(piece.subarray(0, missing));
      if (piece.length > missing) this.#held = piece.subarray(missing);
      missing -= Math.min(missing, piece.length);
    }
    return Buffer.concat(pieces);
  }

  async readAny(): Promise<Buffer | undefined> {
    const held = this.#held;
    this.#held = Buffer.alloc(0);
    if (held.length > 0) return held;
    const next = await this.#pieces.next();
    return next.done === true ? undefined : next.value;
  }
}
