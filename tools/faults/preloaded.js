import { execFileSync } from 'node:child_process';
import { basename, join } from 'node:path';

/**
 * Compiles a library for LD_PRELOAD.
 * @returns its path
 */
export function buildLibrary(source, folder) {
  const library = join(folder, basename(source, '.c').concat('.so'));
  execFileSync('gcc', ['-O2', '-Wall', '-Wno-format-truncation', '-shared', '-fPIC', '-o', library, source, '-ldl'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return library;
}
