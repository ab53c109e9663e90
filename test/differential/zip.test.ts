/** Holds `src/platform/zip` against fflate, which reads the local headers, and yauzl, which reads the directory. */
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { strFromU8, Unzip, UnzipInflate } from 'fflate';
import { describe, test } from 'vitest';
import { type Entry, fromBuffer } from 'yauzl';
import { ZipArchive } from '#platform/zip/zip-archive.ts';
import { compare } from './compare.ts';

const HIGH_LIMIT = { maxBytes: 10_000_000, maxContentBytes: 10_000_000 };

interface Written {
  readonly now: number;
  readonly files: readonly { readonly name: string; readonly parts: readonly string[] }[];
}

const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.nat(3000).map((length) => 'as before '.repeat(length / 10)),
);
const written: fc.Arbitrary<Written> = fc.record({
  now: fc.integer({ min: Date.UTC(1980, 0, 1), max: Date.UTC(2107, 11, 31) }),
  files: fc.uniqueArray(
    fc.record({ name: fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,39}$/), parts: fc.array(texts, { maxLength: 3 }) }),
    { maxLength: 4, selector: ({ name }) => name },
  ),
});

async function archiveOf({ now, files }: Written): Promise<Buffer> {
  const archive = new ZipArchive(now, HIGH_LIMIT);
  for (const { name, parts } of files) {
    await archive.add(name, async (write) => {
      for (const part of parts) await write(part);
    });
  }
  return archive.finish();
}

describe('zip archives as fflate and yauzl', () => {
  test('contents by the local headers', async () => {
    await compare<Written, readonly object[]>({
      inputs: written,
      count: 500,
      ours: ({ files }) => files.map(({ name, parts }) => ({ name, content: parts.join('') })),
      library: async (input) => {
        const read: { name: string; content: string }[] = [];
        const reader = new Unzip((file) => {
          const pieces: Uint8Array[] = [];
          file.ondata = (error, piece, isLast) => {
            if (error !== null) throw error;
            pieces.push(piece);
            if (isLast) read.push({ name: file.name, content: strFromU8(Buffer.concat(pieces)) });
          };
          file.start();
        });
        reader.register(UnzipInflate);
        reader.push(await archiveOf(input), true);
        return read;
      },
      decisions: {},
    });
  });

  test('the directory', async () => {
    await compare<Written, readonly object[]>({
      inputs: written,
      count: 500,
      ours: ({ now, files }) =>
        files.map(({ name, parts }) => {
          const content = Buffer.from(parts.join(''));
          // The format counts in steps of two seconds.
          const modifiedAt = Math.floor(now / 2000) * 2000;
          return { name, size: content.length, checksum: crc32(content), modifiedAt };
        }),
      library: async (input) => {
        const entries = await entriesOf(await archiveOf(input));
        return entries.map((entry) => ({
          name: entry.fileName,
          size: entry.uncompressedSize,
          checksum: entry.crc32,
          modifiedAt: entry.getLastModDate({ timezone: 'UTC' }).getTime(),
        }));
      },
      decisions: {},
    });
  });
});

function entriesOf(archive: Buffer): Promise<readonly Entry[]> {
  return new Promise((resolve, reject) => {
    fromBuffer(archive, (error, file) => {
      if (error !== null) return reject(error);
      const entries: Entry[] = [];
      file.on('entry', (entry) => entries.push(entry));
      file.on('error', reject);
      file.on('end', () => resolve(entries));
    });
  });
}
