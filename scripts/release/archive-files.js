import { output } from '../steps/program.js';

/**
 * Writes a tar archive whose bytes depend only on names, modes and contents: sorted, with one time and one owner. A
 * name that ends in `.gz` is compressed.
 * @param options `from`: the directory; `members`: what of it to include; `epoch`: seconds of all times; `owner`: user
 *   and group ID of all files
 */
export function writeTar(path, { from, members = ['.'], epoch, owner = 0, prefix = '' }) {
  const compression = path.endsWith('.gz') ? ['--use-compress-program=gzip --no-name -6'] : [];
  const names = prefix === '' ? [] : [`--transform=s,^\\.,${prefix},rSh`];
  output('tar', [
    ...['--create', '--file', path, '--format=gnu', '--sort=name', `--mtime=@${epoch}`],
    ...[
      `--owner=${owner}`,
      `--group=${owner}`,
      '--numeric-owner',
      ...compression,
      ...names,
      '--directory',
      from,
      '--',
      ...members,
    ],
  ]);
}

export function extractTar(path, folder, options = []) {
  output('tar', ['--extract', '--file', path, '--directory', folder, ...options]);
}
