import { crc32, inflateRawSync } from 'node:zlib';

/**
 * Returns the texts of the files in a zip archive by name, as its directory lists them. @throws Error when it is
 * damaged
 */
export function readZip(archive: Buffer): Map<string, string> {
  const end = archive.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  if (end < 0) throw new Error('not a zip archive');
  const files = new Map<string, string>();
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [checksum, packed, size] = [16, 20, 24].map((offset) => archive.readUInt32LE(at + offset));
    const [nameLength = 0, extraLength = 0, commentLength = 0] = [28, 30, 32].map((offset) =>
      archive.readUInt16LE(at + offset),
    );
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength);
    const local = archive.readUInt32LE(at + 42);
    const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    const content = inflateRawSync(archive.subarray(start, start + (packed ?? 0)));
    if (content.length !== size || crc32(content) !== checksum) throw new Error(`${name} is damaged`);
    files.set(name, content.toString());
    at += 46 + nameLength + extraLength + commentLength;
  }
  return files;
}
