/**
 * Writes a zip file (PKWARE APPNOTE 6.3) in memory, part by part, each compressed in the thread pool. Files and
 * archives stay far below 4 GiB, so the format does not need ZIP64.
 */
import { promisify } from 'node:util';
import { constants, crc32, deflateRaw } from 'node:zlib';
import { outside } from '#platform/base/tasks.ts';

const compress = promisify(deflateRaw);

/** 2.0: supports compressed files. */
const VERSION = 20;
const DEFLATED = 8;
/** An empty final block (RFC 1951 3.2.3). The parts before it end on a byte boundary without a final block. */
const LAST_BLOCK = Buffer.from([0x03, 0x00]);
const LOCAL_HEADER = 0x04034b50;
const CENTRAL_HEADER = 0x02014b50;
const END_OF_DIRECTORY = 0x06054b50;

/** The files exceed the size limit of the archive. */
export class ArchiveTooLarge extends Error {}

export interface ZipLimits {
  /** Size limit of the archive. */
  readonly maxBytes: number;
  /** Size limit of all files together, before compression. */
  readonly maxContentBytes: number;
}

/** Appends a part to a file. @throws ArchiveTooLarge */
export type WritePart = (text: string) => Promise<void>;

export class ZipArchive {
  readonly #limits: ZipLimits;
  /** Modification time and date of the files in MS-DOS format, in UTC. */
  readonly #time: Buffer;
  readonly #parts: Buffer[] = [];
  readonly #directory: Buffer[] = [];
  #count = 0;
  #size = 0;
  #contentSize = 0;

  /** @param now modification time of all files, in milliseconds since the epoch */
  constructor(now: number, limits: ZipLimits) {
    this.#limits = limits;
    this.#time = dosTime(new Date(now));
  }

  /**
   * Adds a file.
   * @param name ASCII, without folders
   * @param writeParts writes the content
   */
  async add(name: string, writeParts: (write: WritePart) => Promise<void>): Promise<void> {
    const compressed: Buffer[] = [];
    let [checksum, size, compressedSize] = [0, 0, LAST_BLOCK.length];
    await writeParts(async (text) => {
      // For an empty buffer that was compressed, `crc32` of Node.js 20 returns zero instead of the checksum so far.
      if (text === '') return;
      const content = Buffer.from(text);
      const block = await outside(compress(content, { finishFlush: constants.Z_SYNC_FLUSH }));
      checksum = crc32(content, checksum);
      size += content.length;
      compressedSize += block.length;
      compressed.push(block);
      this.#contentSize += content.length;
      if (this.#contentSize > this.#limits.maxContentBytes) throw new ArchiveTooLarge('its files are too large');
      if (this.#size + compressedSize > this.#limits.maxBytes) throw new ArchiveTooLarge('the archive is too large');
    });
    const facts = this.#facts(name, checksum, compressedSize, size);
    const offset = this.#size;
    this.#append(numbers([4, LOCAL_HEADER]), facts, numbers([2, 0]), Buffer.from(name), ...compressed, LAST_BLOCK);
    this.#directory.push(
      numbers([4, CENTRAL_HEADER], [2, VERSION]),
      facts,
      // No extra field, no comment, first disk, no attributes.
      numbers([2, 0], [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]),
      Buffer.from(name),
    );
    this.#count += 1;
  }

  /** Returns the archive with all files added so far. */
  finish(): Buffer {
    const directory = Buffer.concat(this.#directory);
    const end = numbers([4, END_OF_DIRECTORY], [2, 0], [2, 0], [2, this.#count], [2, this.#count]);
    return Buffer.concat([...this.#parts, directory, end, numbers([4, directory.length], [4, this.#size], [2, 0])]);
  }

  #append(...parts: readonly Buffer[]): void {
    this.#parts.push(...parts);
    for (const { length } of parts) this.#size += length;
  }

  /** Fields that both headers of a file share. */
  #facts(name: string, checksum: number, compressedSize: number, size: number): Buffer {
    return Buffer.concat([
      numbers([2, VERSION], [2, 0], [2, DEFLATED]),
      this.#time,
      numbers([4, checksum], [4, compressedSize], [4, size], [2, name.length]),
    ]);
  }
}

/** Encodes little-endian numbers with the given sizes. */
function numbers(...fields: readonly (readonly [bytes: 2 | 4, value: number])[]): Buffer {
  return Buffer.concat(
    fields.map(([bytes, value]) => {
      const buffer = Buffer.alloc(bytes);
      buffer.writeUIntLE(value, 0, bytes);
      return buffer;
    }),
  );
}

function dosTime(at: Date): Buffer {
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  const date = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  return numbers([2, time], [2, date]);
}
