import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/**
 * Whether this process may replace system files for other processes. Requires root and an environment that permits
 * mounts.
 */
export function mayMount(): boolean {
  try {
    execFileSync('unshare', ['-m', 'true'], { stdio: 'ignore' });
    return process.getuid?.() === 0;
  } catch {
    return false;
  }
}

/**
 * Returns a Node.js executable that sees different contents of system files such as `/etc/resolv.conf`. The
 * replacements are bind-mounted in a separate mount namespace.
 * @param folder for the files and the executable
 */
export function nodeWithFiles(folder: string, files: Readonly<Record<string, string>>): string {
  const mounts = Object.entries(files).map(([path, content]) => {
    const file = join(folder, basename(path));
    writeFileSync(file, content);
    return `mount --bind '${file}' '${path}' && `;
  });
  const script = `${mounts.join('')}exec '${process.execPath}' "$@"`;
  const node = join(folder, 'node');
  writeFileSync(node, `#!/bin/sh\nexec unshare -m sh -c '${script.replaceAll("'", `'\\''`)}' sh "$@"\n`);
  chmodSync(node, 0o755);
  return node;
}
