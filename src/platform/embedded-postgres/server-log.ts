import { type FileHandle, open, rename, stat } from 'node:fs/promises';

const MAX_BYTES = 1024 * 1024;
const TELLING = /\b(FATAL|PANIC|ERROR|HINT|DETAIL|error while loading)\b/;

/** Opens the file that takes the server's output; a large one is kept as `server.log.1` and begun anew. */
export async function openServerLog(path: string): Promise<{ file: FileHandle; position: number }> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  const isTooLarge = size > MAX_BYTES;
  if (isTooLarge) await rename(path, `${path}.1`);
  return { file: await open(path, 'a', 0o600), position: isTooLarge ? 0 : size };
}

/** What the server said since `position`: its complaints if there are any, else its last words. */
export async function readServerLog(path: string, position: number): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16 * 1024), 0, 16 * 1024, position);
    const lines = buffer.toString('utf8', 0, bytesRead).trim().split('\n');
    const complaints = lines.filter((line) => TELLING.test(line));
    return (complaints.length > 0 ? complaints : lines).slice(-5).join('\n  ');
  } finally {
    await file.close();
  }
}
