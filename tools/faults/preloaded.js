import { execFileSync } from 'node:child_process';
import { basename, join } from 'node:path';

/** Compiles a library that is loaded first into processes. @returns its path */
export function buildLibrary(source, folder) {
  const library = join(folder, basename(source, '.c').concat('.so'));
  execFileSync('gcc', ['-O2', '-Wall', '-Wno-format-truncation', '-shared', '-fPIC', '-o', library, source, '-ldl'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return library;
}
