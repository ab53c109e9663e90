import { ZipArchive, type ZipLimits } from '#platform/zip/zip-archive.ts';
import { EXPORTED_FILES, type ExportSource } from './exported-files.ts';

/**
 * A few thousand times the size of a typical account. The archive is stored in one row, and held in memory while it is
 * created and while it is sent.
 */
const LIMITS: ZipLimits = { maxBytes: 8 * 1024 * 1024, maxContentBytes: 256 * 1024 * 1024 };

export interface ArchiveFrame {
  readonly serviceName: string;
  /** URL of the server. */
  readonly address: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Writes the stored data about a user into a zip file.
 * @throws ArchiveTooLarge
 */
export async function makeArchive(source: ExportSource, frame: ArchiveFrame): Promise<Buffer> {
  const archive = new ZipArchive(frame.now, LIMITS);
  await archive.add('README.txt', (write) => write(readme(frame)));
  for (const { name, write } of EXPORTED_FILES) await archive.add(name, (part) => write(source, part));
  return archive.finish();
}

function readme({ serviceName, address, now }: ArchiveFrame): string {
  const files = EXPORTED_FILES.map(({ name, holds }) => `${name.padEnd(28)}${holds}`);
  const lines = [
    `Your account at ${serviceName} (${address})`,
    `Created on ${new Date(now).toISOString()}`,
    '',
    ...files,
    '',
    'The files are JSON (UTF-8). All times are in UTC. Unknown values are omitted.',
    'Passwords and other secrets are never exported. Chat messages are stored by the chat server, not here.',
    '',
  ];
  return lines.join('\r\n');
}
