/** Holds `src/platform/tar` against tar-stream. */
import fc from 'fast-check';
import { extract, type Header, pack } from 'tar-stream';
import { describe, test } from 'vitest';
import { END_OF_ARCHIVE, readTarFiles, type TarFile, TarProblem, tarFile } from '#platform/tar/tar-archive.ts';
import { type Change, changed, changes } from './changes.ts';
import { compare, REJECTED } from './compare.ts';

/** The name fits into a header. */
function isShort({ name }: Pick<TarFile, 'name'>): boolean {
  return Buffer.byteLength(name) <= 100;
}

interface Read {
  readonly name: string;
  readonly content: string;
}

const NOW = Date.UTC(2026, 10, 28);

async function* piecesOf(archive: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < archive.length; at += size) yield archive.subarray(at, at + size);
}

async function readByOurs(archive: Buffer, pieceSize = archive.length): Promise<readonly Read[] | typeof REJECTED> {
  const read: Read[] = [];
  try {
    for await (const { name, content } of readTarFiles(piecesOf(archive, pieceSize), () => 1_000_000)) {
      read.push({ name, content: content.toString('hex') });
    }
  } catch (error) {
    if (error instanceof TarProblem) return REJECTED;
    throw error;
  }
  return read;
}

interface ReadByLibrary extends Read, Pick<Header, 'mode' | 'type'> {
  readonly mtime: number | undefined;
}

/** Streams over memory continue in microtasks, so nothing more happens after a few turns of the event loop. */
async function endOfWork(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** The library waits forever at a folder that has content. */
function readByLibrary(archive: Buffer): Promise<readonly ReadByLibrary[]> {
  return new Promise((resolve, reject) => {
    const read: ReadByLibrary[] = [];
    const reader = extract();
    reader.on('entry', ({ name, mode, mtime, type }, stream, next) => {
      const pieces: Buffer[] = [];
      stream.on('data', (piece) => {
        if (piece instanceof Uint8Array) pieces.push(Buffer.from(piece));
      });
      stream.on('error', reject);
      stream.on('end', () => {
        read.push({ name, content: Buffer.concat(pieces).toString('hex'), mode, mtime: mtime?.getTime(), type });
        next();
      });
    });
    reader.on('error', reject);
    void endOfWork().then(() => reject(new Error('it waits forever')));
    reader.on('finish', () => resolve(read));
    reader.end(archive);
  });
}

function writtenByOurs(files: readonly TarFile[]): Buffer {
  return Buffer.concat([...files.map((file) => tarFile(file, NOW)), END_OF_ARCHIVE]);
}

type Kind = 'file' | 'directory' | 'symlink';

interface LibraryFile extends TarFile {
  readonly kind: Kind;
}

async function writtenByLibrary(files: readonly LibraryFile[]): Promise<Buffer> {
  const writer = pack();
  for (const { name, content, kind } of files) {
    const shared = { name, mode: 0o600, mtime: new Date(NOW), type: kind };
    if (kind === 'file') writer.entry(shared, content);
    else writer.entry(kind === 'symlink' ? { ...shared, linkname: 'elsewhere' } : shared);
  }
  writer.finalize();
  const pieces: Buffer[] = [];
  for await (const piece of writer) {
    if (piece instanceof Uint8Array) pieces.push(Buffer.from(piece));
  }
  return Buffer.concat(pieces);
}

const contents = fc.oneof(
  fc.constantFrom(0, 1, 511, 512, 513, 1024, 5000).map((size) => Buffer.alloc(size, 'a')),
  fc.uint8Array({ maxLength: 1100 }).map((bytes) => Buffer.from(bytes)),
);
const characters = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...'abc.-_/0') },
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
);
const names = fc.string({ unit: characters, minLength: 1, maxLength: 100 }).map((name) => name.replaceAll('\0', '0'));

const files = fc.array(fc.record({ name: names, content: contents }).filter(isShort), { maxLength: 3 });

/** What happens to an archive after it was written. */
interface Damage {
  readonly change: Change;
  /** A byte of the first header is replaced, and its checksum made right. */
  readonly header?: readonly [at: number, byte: number];
  /** Another archive follows. */
  readonly isFollowed?: boolean;
}

interface Written {
  readonly files: readonly LibraryFile[];
  readonly isOurs: boolean;
  readonly damage: Damage;
  /** The archive arrives in pieces of this size. */
  readonly pieceSize: number;
}

const someFiles = fc.array(
  fc.record({
    name: fc.oneof(
      { weight: 9, arbitrary: names },
      { weight: 1, arbitrary: fc.constant(`${'folder/'.repeat(20)}file`) },
    ),
    content: contents,
    kind: fc.constantFrom<Kind>(...Array<Kind>(12).fill('file'), 'directory', 'symlink'),
  }),
  { minLength: 1, maxLength: 3 },
);
const NO_CHANGE: Change = { kind: 'none', at: 0, byte: 0 };
const damages: fc.Arbitrary<Damage> = fc.oneof(
  { weight: 10, arbitrary: changes.map((change) => ({ change })) },
  {
    weight: 10,
    arbitrary: fc.record({
      change: fc.constant(NO_CHANGE),
      header: fc.tuple(fc.nat(511), fc.oneof(fc.nat(255), fc.constantFrom(0, 0x20, 0x30, 0x35, 0x80))),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ change: NO_CHANGE, isFollowed: true }) },
);
const sizes = fc.constantFrom(7, 100, 512, 700, 65_536);

async function archiveOf({ files, isOurs, damage }: Written): Promise<Buffer> {
  const archive = isOurs ? writtenByOurs(files.filter(isShort)) : await writtenByLibrary(files);
  if (damage.isFollowed === true) return Buffer.concat([archive, archive]);
  const [at, byte] = damage.header ?? [];
  if (at === undefined || byte === undefined) return changed(archive, damage.change);
  archive.writeUInt8(byte, at);
  archive.fill(' ', 148, 156);
  const sum = archive.subarray(0, 512).reduce((all, one) => all + one, 0);
  archive.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return archive;
}

describe('tar archives as tar-stream', () => {
  test('files that our code writes', async () => {
    await compare<readonly TarFile[], readonly object[]>({
      inputs: files,
      count: 1_500,
      ours: (written) =>
        written.map(({ name, content }) => ({
          name,
          content: content.toString('hex'),
          mode: 0o600,
          mtime: NOW,
          type: 'file',
        })),
      library: async (written) => {
        const read = await readByLibrary(writtenByOurs(written));
        return read.map(({ name, content, mode, mtime, type }) => ({ name, content, mode, mtime, type }));
      },
      decisions: {},
    });
  });

  test('archives of both, whole and damaged', async () => {
    await compare<Written, readonly Read[]>({
      inputs: fc.record({ files: someFiles, isOurs: fc.boolean(), damage: damages, pieceSize: sizes }),
      count: 1_500,
      ours: async (written) => await readByOurs(await archiveOf(written), written.pieceSize),
      library: async (written) => {
        const read = await readByLibrary(await archiveOf(written));
        return read.map(({ name, content }) => ({ name, content }));
      },
      decisions: {
        'our archives have only regular files with short names': ({ files, isOurs }, ours) =>
          ours === REJECTED && !isOurs && files.some((file) => file.kind !== 'file' || !isShort(file)),
        'names beyond ASCII are in extended headers of the library': ({ files, isOurs }, ours) =>
          ours === REJECTED && !isOurs && files.some(({ name }) => Buffer.byteLength(name) !== name.length),
        'an archive without its end is truncated': ({ damage }, ours) =>
          ours === REJECTED && damage.change.kind === 'cut',
        'an empty block ends an archive, and zeros after it are padding': ({ files, isOurs }, ours, library) =>
          library === REJECTED && ours.length === (isOurs ? files.filter(isShort) : files).length,
        'headers unlike ours are errors': ({ damage }, ours) => ours === REJECTED && damage.header !== undefined,
        'nothing may follow the end': ({ damage }, ours) => ours === REJECTED && damage.isFollowed === true,
      },
    });
  });
});
