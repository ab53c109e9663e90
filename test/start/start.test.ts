import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { packageRoot } from '#platform/base/package-root.ts';
import { type RunningProgram, runProgram } from './program.ts';

// A minimal package with Latchkey's scripts, inside its folder so that the bundler is found without an installation.
// Its lockfile is empty, so that npm fetches nothing.
const clone = join(packageRoot, '.latchkey', `test-start-${process.pid}`);
let running: RunningProgram[] = [];

const MAIN = `
import { greeting } from './greeting.ts';
process.once('SIGTERM', () => { process.stdout.write('ended\\n'); process.exit(0); });
process.stdout.write(\`\${greeting} arguments=\${process.argv.slice(2)} flags=\${process.execArgv}\\n\`);
setInterval(() => {}, 1000);
`;

function writeGreeting(text: string): void {
  writeFileSync(join(clone, 'src/greeting.ts'), `export const greeting: string = '${text}';\n`);
}

function writeLockfile(version: string): void {
  const lock = {
    name: 'clone',
    version,
    lockfileVersion: 3,
    requires: true,
    packages: { '': { name: 'clone', version } },
  };
  writeFileSync(join(clone, 'package-lock.json'), JSON.stringify(lock));
  const { scripts } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
  writeFileSync(join(clone, 'package.json'), JSON.stringify({ name: 'clone', version, type: 'module', scripts }));
}

function run(command: string, ...args: string[]): RunningProgram {
  const program = runProgram(command, args, { cwd: clone });
  running.push(program);
  return program;
}

const npmStart = (...args: string[]): RunningProgram => run('npm', 'start', ...args);

async function end(program: RunningProgram): Promise<number | NodeJS.Signals> {
  program.process.kill('SIGTERM');
  return program.ended;
}

const chunks = (): string[] => readdirSync(join(clone, 'dist/chunks')).sort();

beforeEach(() => {
  mkdirSync(join(clone, 'src'), { recursive: true });
  cpSync(join(packageRoot, 'scripts'), join(clone, 'scripts'), { recursive: true });
  cpSync(join(packageRoot, 'bin'), join(clone, 'bin'), { recursive: true });
  writeFileSync(join(clone, 'src/main.ts'), MAIN);
  writeGreeting('hello');
  writeLockfile('1.0.0');
});

afterEach(async () => {
  for (const program of running) program.kill();
  await Promise.all(running.map((program) => program.ended));
  running = [];
  rmSync(clone, { recursive: true, force: true });
});

describe('npm start', () => {
  test('installs, builds and runs the program with its arguments, under a small young generation', async () => {
    const started = npmStart('--', 'serve', '--quiet');
    expect(await started.says(/hello .*/)).toBe('hello arguments=serve,--quiet flags=--max-semi-space-size=8');
    expect(started.output()).toContain('installing dependencies (npm ci --omit=dev)');
    expect(started.output()).toContain('built in');
  });

  test('accepts a folder installed by npm, which omits dependencies of packages for other platforms', async () => {
    const file = join(clone, 'package-lock.json');
    const lock = JSON.parse(readFileSync(file, 'utf8'));
    lock.packages = {
      '': { ...lock.packages[''], optionalDependencies: { 'for-wasm': '1.0.0' } },
      'node_modules/for-wasm': {
        version: '1.0.0',
        optional: true,
        cpu: ['wasm32'],
        dependencies: { 'wasm-tools': '1.0.0' },
      },
      'node_modules/wasm-tools': { version: '1.0.0', optional: true },
    };
    writeFileSync(file, JSON.stringify(lock));
    mkdirSync(join(clone, 'node_modules'));
    writeFileSync(join(clone, 'node_modules/.package-lock.json'), JSON.stringify({ packages: {} }));
    const started = npmStart();
    await started.says('hello');
    expect(started.output()).not.toContain('installing');
  });

  test('a SIGTERM to npm stops the program gracefully', async () => {
    const started = npmStart();
    await started.says('hello');
    expect(await end(started)).toBe(0);
    expect(started.output()).toContain('ended');
  });

  test('the second start neither installs nor builds', async () => {
    const first = npmStart();
    await first.says('hello');
    await end(first);
    const second = npmStart();
    await second.says('hello');
    expect(second.output()).not.toMatch(/installing|built/);
  });

  test('a changed lockfile installs again, a changed source builds again', async () => {
    const first = npmStart();
    await first.says('hello');
    await end(first);
    writeGreeting('good evening');
    const second = npmStart();
    await second.says('good evening');
    expect(second.output()).not.toContain('installing');
    await end(second);
    writeLockfile('1.0.1');
    const third = npmStart();
    await third.says('good evening');
    expect(third.output()).toContain('installing');
  });

  test('two concurrent starts: only one installs and builds, and both run', async () => {
    const both = [npmStart(), npmStart()];
    await Promise.all(both.map((program) => program.says('hello')));
    expect(both.filter((program) => program.output().includes('built in'))).toHaveLength(1);
    expect(both.filter((program) => program.output().includes('installing'))).toHaveLength(1);
  });

  test('a start that was killed during installation does not block the next', async () => {
    const killed = run(process.execPath, 'scripts/start.js');
    await killed.says('installing');
    killed.process.kill('SIGKILL');
    await killed.ended;
    expect(existsSync(join(clone, '.latchkey/lock'))).toBe(true);
    const next = npmStart();
    await next.says('hello');
    expect(readdirSync(join(clone, '.latchkey'))).toEqual([]);
  });

  test('sources that do not build: a message, exit 1, and the former build unchanged', async () => {
    const first = npmStart();
    await first.says('hello');
    await end(first);
    const before = readFileSync(join(clone, 'dist/main.js'), 'utf8');
    writeFileSync(join(clone, 'src/greeting.ts'), 'export const greeting = ;');
    const second = npmStart();
    expect(await second.ended).toBe(1);
    expect(second.output()).toContain('src/greeting.ts:1:24');
    expect(readFileSync(join(clone, 'dist/main.js'), 'utf8')).toBe(before);
  });
});

describe('bin/latchkey.js', () => {
  test('builds and runs the program of a clone, with the same flags', async () => {
    const started = run(join(clone, 'bin/latchkey.js'), '--version');
    expect(await started.says(/hello .*/)).toBe('hello arguments=--version flags=--max-semi-space-size=8');
  });

  test('mas-cli runs the same program', async () => {
    const started = run(join(clone, 'bin/mas-cli.js'), '--version');
    expect(await started.says(/hello .*/)).toBe('hello arguments=--version flags=--max-semi-space-size=8');
  });

  test('runs the published package, which has no sources and no scripts', async () => {
    const built = run('npm', 'run', 'build');
    expect(await built.ended).toBe(0);
    for (const folder of ['src', 'scripts', 'node_modules'])
      rmSync(join(clone, folder), { recursive: true, force: true });
    const started = run(join(clone, 'bin/latchkey.js'));
    expect(await started.says(/hello .*/)).toContain('hello');
  });
});

describe('npm run build', () => {
  const build = async (): Promise<void> => {
    const built = run('npm', 'run', 'build');
    expect(await built.ended, built.output()).toBe(0);
  };

  test('keeps the files of the previous build, which a running process may still load, and no older ones', async () => {
    const load = "\nexport const more = () => import('./more.ts');";
    const write = (text: string): void => {
      writeFileSync(join(clone, 'src/main.ts'), MAIN + load);
      writeFileSync(join(clone, 'src/more.ts'), `export const more = '${text}';`);
    };
    const seen: string[][] = [];
    for (const text of ['first', 'second', 'third']) {
      write(text);
      await build();
      seen.push(chunks());
    }
    const [first = [], second = [], third = []] = seen;
    expect(first).toHaveLength(1);
    expect(second).toEqual(expect.arrayContaining(first));
    expect(third).not.toEqual(expect.arrayContaining(first));
    expect(third).toHaveLength(2);
  });

  test('publishes assets under hashed names, with compressed forms and a manifest', async () => {
    mkdirSync(join(clone, 'src/browser/assets'), { recursive: true });
    writeFileSync(join(clone, 'src/browser/assets/pages.css'), 'body {\n  color: #ff0000;\n}\n');
    await build();
    const manifest = JSON.parse(readFileSync(join(clone, 'dist/assets/manifest.json'), 'utf8'));
    expect(manifest).toEqual({ 'pages.css': expect.stringMatching(/^pages-[0-9a-f]{8}\.css$/) });
    const published = join(clone, 'dist/assets', manifest['pages.css']);
    const plain = readFileSync(published, 'utf8');
    expect(plain).toBe('body{color:red}\n');
    expect(brotliDecompressSync(readFileSync(`${published}.br`)).toString()).toBe(plain);
    expect(gunzipSync(readFileSync(`${published}.gz`)).toString()).toBe(plain);
    writeFileSync(join(clone, 'src/browser/assets/pages.css'), 'body {\n  color: #00ff00;\n}\n');
    await build();
    const before = JSON.parse(readFileSync(join(clone, 'dist/assets/manifest.before.json'), 'utf8'));
    expect(before).toEqual(manifest);
    expect(readFileSync(published, 'utf8')).toBe(plain);
  });

  test('creates an entry for each worker thread', async () => {
    mkdirSync(join(clone, 'src/domain'), { recursive: true });
    writeFileSync(join(clone, 'src/domain/some.worker.ts'), "process.stdout.write('worker');");
    await build();
    expect(existsSync(join(clone, 'dist/some.worker.js'))).toBe(true);
  });
});
