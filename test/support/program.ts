import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { packageRoot } from '#platform/base/package-root.ts';

/**
 * The built program as its users run it, with a folder and a configuration file of its own; on another Node.js when
 * `LATCHKEY_TEST_NODE` names one.
 */
export class Program {
  readonly #folder: string;
  readonly #file: string;

  /** @param settings the configuration file as an object; @param name of the file in the folder */
  constructor(folder: string, settings: Readonly<Record<string, unknown>>, name = 'latchkey.json') {
    this.#folder = folder;
    this.#file = join(folder, name);
    writeFileSync(this.#file, JSON.stringify(settings));
  }

  /** Runs a command to its end. @returns what it printed; throws when it fails */
  async run(args: readonly string[], input = ''): Promise<string> {
    const child = this.launch(args);
    let printed = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    child.stdin?.end(input);
    const code = await new Promise((resolve) => child.once('close', resolve));
    if (code !== 0) throw new Error(`latchkey ${args.join(' ')} ended with ${String(code)}: ${said}`);
    return printed;
  }

  /**
   * Starts the service and waits until its health check at `base` answers.
   * @param openFiles how many it may have open, as `ulimit -n` says
   */
  async serve(base: string, environment: NodeJS.ProcessEnv = {}, openFiles?: number): Promise<ChildProcess> {
    const service = this.launch(['serve'], environment, openFiles);
    service.stdin?.end();
    let said = '';
    service.stderr?.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4_000);
    });
    const deadline = performance.now() + 20_000;
    for (;;) {
      const isReady = await fetch(`${base}health`).then(
        (response) => response.ok,
        () => false,
      );
      if (isReady) return service;
      if (service.exitCode !== null || performance.now() > deadline) throw new Error(`no service at ${base}: ${said}`);
      await pause(20);
    }
  }

  /** @param environment variables on top of those of this process */
  launch(args: readonly string[], environment: NodeJS.ProcessEnv = {}, openFiles?: number): ChildProcess {
    const program = join(packageRoot, 'dist/main.js');
    const node = process.env['LATCHKEY_TEST_NODE'] ?? process.execPath;
    const call = [node, '--max-semi-space-size=8', program, '--config', this.#file, ...args];
    const limited = openFiles === undefined ? [] : ['sh', '-c', `ulimit -n ${openFiles}; exec "$0" "$@"`];
    const [command = node, ...rest] = [...limited, ...call];
    return spawn(command, rest, { cwd: this.#folder, env: { ...process.env, ...environment }, stdio: 'pipe' });
  }
}

/** Asks a process to stop and waits for its end. @returns its exit code */
export async function stopProcess(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  return await ended;
}
