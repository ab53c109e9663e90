import { spawnSync } from 'node:child_process';

/** Runs a program and returns its standard output. Its error names the program and the end of what it printed. */
export function output(program, args, { cwd, env } = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status === 0) return stdout;
  throw error ?? new Error(`${program} ${args.join(' ')} ended with code ${status}: ${stderr.slice(-2000)}`);
}

/** Runs npm, the one that runs this script if there is one. */
export function npm(args, options) {
  const path = process.env.npm_execpath;
  const isScript = path?.endsWith('.js') ?? false;
  return isScript ? output(process.execPath, [path, ...args], options) : output('npm', args, options);
}
