/** Installs what the applications need beyond npm, once; an installation that fails fails their checks. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const here = import.meta.dirname;

/** Python with the packages of `requirements.txt`. @returns the interpreter */
export function python() {
  const requirements = join(here, 'requirements.txt');
  const digest = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const folder = join(tmpdir(), `latchkey-apps-python-${digest}`);
  const program = join(folder, 'bin', 'python');
  const stamp = join(folder, 'complete');
  if (existsSync(stamp)) return program;
  rmSync(folder, { recursive: true, force: true });
  run('python3', ['-m', 'venv', folder]);
  run(program, ['-m', 'pip', 'install', '--quiet', '--no-deps', '--requirement', requirements]);
  writeFileSync(stamp, '');
  return program;
}

/** Builds a Go program with exactly the modules of its `go.sum`. @returns the program */
export function goProgram(name) {
  const folder = join(tmpdir(), 'latchkey-apps-go');
  mkdirSync(folder, { recursive: true });
  const program = join(folder, name);
  run('go', ['build', '-mod=readonly', '-o', program, '.'], { cwd: join(here, name) });
  return program;
}

/** Installs Debian packages when a file of theirs is not there. */
export function debianPackages(names, file) {
  if (existsSync(file)) return;
  run('apt-get', ['update', '-qq']);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names], { env });
}

/** Runs a program to its end; throws what it printed when it fails. */
export function run(command, args, options = {}) {
  const { status, signal, error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', ...options });
  if (status === 0) return;
  throw new Error(`${command} ${args.join(' ')} ended with ${error ?? signal ?? status}: ${stdout}${stderr}`);
}
