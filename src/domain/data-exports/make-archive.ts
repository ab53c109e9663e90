import { ZipArchive, type ZipLimits } from '#platform/zip/zip-archive.ts';
import { EXPORTED_FILES, type ExportSource } from './exported-files.ts';

/**
 * A few thousand times what an account usually has. The archive is in one row, and in memory while it is made and while
 * it is handed out.
 */
const LIMITS: ZipLimits = { maxBytes: 8 * 1024 * 1024, maxContentBytes: 256 * 1024 * 1024 };

export interface ArchiveFrame {
  readonly serviceName: string;
  /** Address of the service. */
  readonly address: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Reads what is stored about a person into a zip file. @throws ArchiveTooLarge */
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
    `As it was on ${new Date(now).toISOString()}`,
    '',
    ...files,
    '',
    'The files are JSON (UTF-8). All times are in UTC. What is not known about an entry is left out.',
    'Passwords and other secrets are never part of an export. Chat messages are kept by the chat server, not here.',
    '',
  ];
  return lines.join('\r\n');
}
