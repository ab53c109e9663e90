import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readZip } from '#test/support/read-zip.ts';
import { ArchiveTooLarge, type WritePart, ZipArchive } from './zip-archive.ts';

const NOW = Date.UTC(2026, 10, 24, 13, 37, 42);
const HIGH_LIMIT = { maxBytes: 1_000_000, maxContentBytes: 10_000_000 };

function parts(...texts: readonly string[]): (write: WritePart) => Promise<void> {
  return async (write) => {
    for (const text of texts) await write(text);
  };
}

/** Incompressible text. */
function noise(length: number): string {
  return Array.from({ length }, () => String.fromCharCode(33 + Math.floor(Math.random() * 90))).join('');
}

async function example(): Promise<Buffer> {
  const archive = new ZipArchive(NOW, HIGH_LIMIT);
  await archive.add('README.txt', parts('Grüße, '.repeat(1000), 'مرحبا'));
  await archive.add('empty.json', parts());
  await archive.add('rows.json', parts('[', ...Array.from({ length: 50 }, (_, row) => `{"row":${row}},`), ']', ''));
  return archive.finish();
}

test('reads the files of an archive back as they were added', async () => {
  const files = readZip(await example());
  expect([...files.keys()]).toEqual(['README.txt', 'empty.json', 'rows.json']);
  expect(files.get('README.txt')).toBe(`${'Grüße, '.repeat(1000)}مرحبا`);
  expect(files.get('empty.json')).toBe('');
  expect(files.get('rows.json')).toContain('{"row":49},]');
});

test('another program reads it and finds correct names, checksums and times', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'zip-'));
  try {
    const path = join(folder, 'archive.zip');
    writeFileSync(path, await example());
    const script = `import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
  print(json.dumps({'bad': archive.testzip(), 'files': [[i.filename, i.file_size, list(i.date_time)] for i in archive.infolist()]}))`;
    const said: unknown = JSON.parse(execFileSync('python3', ['-c', script, path], { encoding: 'utf8' }));
    const time = [2026, 11, 24, 13, 37, 42];
    const readme = Buffer.byteLength(`${'Grüße, '.repeat(1000)}مرحبا`);
    expect(said).toMatchObject({
      bad: null,
      files: [
        ['README.txt', readme, time],
        ['empty.json', 0, time],
        ['rows.json', expect.any(Number), time],
      ],
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('an archive never exceeds its limit, packed or unpacked', async () => {
  const packed = new ZipArchive(NOW, { ...HIGH_LIMIT, maxBytes: 10_000 });
  await packed.add('small.txt', parts(noise(5_000)));
  await expect(packed.add('large.txt', parts(noise(5_000), noise(5_000)))).rejects.toThrow(ArchiveTooLarge);
  const unpacked = new ZipArchive(NOW, { ...HIGH_LIMIT, maxContentBytes: 100_000 });
  await unpacked.add('zeros.txt', parts('0'.repeat(60_000)));
  await expect(unpacked.add('more.txt', parts('0'.repeat(60_000)))).rejects.toThrow(ArchiveTooLarge);
});
