/** Installs dependencies outside npm once. A failed installation fails the checks that need it. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const here = import.meta.dirname;

/** Ruby with OmniAuth for OpenID Connect, and a web server. */
export const RUBY_PACKAGES = ['ruby', 'ruby-sinatra', 'ruby-webrick', 'ruby-omniauth-openid-connect'];

/**
 * Installs Python with the packages of a `requirements.txt`.
 * @param application folder of one that has packages of its own
 * @param isComplete whether the file lists the dependencies of its packages as well
 * @returns the interpreter
 */
export async function python(application = '', { isComplete = true } = {}) {
  const requirements = join(here, application, 'requirements.txt');
  const digest = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const folder = join(tmpdir(), `latchkey-apps-python-${digest}`);
  const program = join(folder, 'bin', 'python');
  const stamp = join(folder, 'complete');
  if (existsSync(stamp)) return program;
  rmSync(folder, { recursive: true, force: true });
  await run('python3', ['-m', 'venv', folder]);
  const own = isComplete ? ['--no-deps'] : [];
  await run(program, ['-m', 'pip', 'install', '--quiet', ...own, '--requirement', requirements]);
  writeFileSync(stamp, '');
  return program;
}

/** Installs the npm packages of an application with a `package.json` of its own. */
export async function npmPackages(application) {
  await run('npm', ['install', '--silent', '--no-audit', '--no-fund', '--no-package-lock'], {
    cwd: join(here, application),
  });
}

/**
 * Builds a Go program with exactly the modules of its `go.sum`.
 * @returns the program
 */
export async function goProgram(name) {
  const program = join(goFolder(), name.replaceAll(/\W+/g, '-'));
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
 * Builds a Rust program.
 * @param name of its package
 * @returns the program
 */
export async function rustProgram(application, name) {
  const folder = join(tmpdir(), 'latchkey-apps-rust');
  await run('cargo', ['build', '--quiet', '--locked', '--target-dir', folder], { cwd: join(here, application) });
  return join(folder, 'debug', name);
}

/**
 * Builds a Java program with Maven.
 * @returns its archive
 */
export async function javaProgram(name) {
  const folder = join(tmpdir(), `latchkey-apps-java-${name.replaceAll(/\W+/g, '-')}`);
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
