/** Installs dependencies outside npm once. A failed installation fails the checks that need it. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const here = import.meta.dirname;

/**
 * Installs Python with the packages of a `requirements.txt`.
 * @param application folder of one that has packages of its own
 * @returns the interpreter
 */
export async function python(application = '') {
  const requirements = join(here, application, 'requirements.txt');
  const digest = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const folder = join(tmpdir(), `latchkey-apps-python-${digest}`);
  const program = join(folder, 'bin', 'python');
  const stamp = join(folder, 'complete');
  if (existsSync(stamp)) return program;
  rmSync(folder, { recursive: true, force: true });
  await run('python3', ['-m', 'venv', folder]);
  await run(program, ['-m', 'pip', 'install', '--quiet', '--no-deps', '--requirement', requirements]);
  writeFileSync(stamp, '');
  return program;
}

/**
 * Builds a Go program with exactly the modules of its `go.sum`.
 * @returns the program
 */
export async function goProgram(name) {
  const program = join(goFolder(), name);
  await run('go', ['build', '-mod=readonly', '-o', program, '.'], { cwd: join(here, name) });
  return program;
}

/**
 * Installs a released Go program, such as `example.org/program@v1.2.3`.
 * @returns the program
 */
export async function releasedGoProgram(name, release) {
  const folder = goFolder();
  await run('go', ['install', release], { env: { ...process.env, GOBIN: folder } });
  return join(folder, name);
}

/** Returns the folder of a module in the Go module cache. */
export async function goModuleFolder(name, module) {
  const { stdout } = await run('go', ['list', '-mod=readonly', '-m', '-f', '{{.Dir}}', module], {
    cwd: join(here, name),
  });
  return stdout.trim();
}

/**
 * Builds a Java program with Maven.
 * @returns its archive
 */
export async function javaProgram(name) {
  const folder = join(tmpdir(), `latchkey-apps-java-${name}`);
  await run('mvn', ['-q', '-B', 'package', `-Dbuild.folder=${folder}`], { cwd: join(here, name) });
  return join(folder, 'app.jar');
}

function goFolder() {
  const folder = join(tmpdir(), 'latchkey-apps-go');
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Installs Debian packages if one of their files is missing. */
export async function debianPackages(names, file) {
  if (existsSync(file)) return;
  await run('apt-get', ['update', '-qq']);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names], { env });
}

/**
 * Runs a program to its end, and throws its output if it fails. Asynchronous, because an installation takes minutes:
 * while the event loop is blocked, the closing of idle connections goes unnoticed.
 */
export async function run(command, args, options = {}) {
  try {
    return await promisify(execFile)(command, args, { maxBuffer: 64 * 1024 * 1024, ...options });
  } catch (error) {
    const ending = error.signal ?? error.code;
    throw new Error(`${command} ${args.join(' ')} ended with ${ending}: ${error.stdout}${error.stderr}`);
  }
}
