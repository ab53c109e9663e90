import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Whether this process may give others files of their own: it takes root, in an environment that allows it. */
export function mayMount(): boolean {
  try {
    execFileSync('unshare', ['-m', 'true'], { stdio: 'ignore' });
    return process.getuid?.() === 0;
  } catch {
    return false;
  }
}

/**
 * A Node.js that finds other contents in files of the system, such as `/etc/resolv.conf`: they are bound over these in a
 * mount namespace of its own.
 * @param folder for what it needs
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
