import { spawn } from 'node:child_process';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Runs a program with its output on the terminal, and stops it when this process is stopped. */
export function runToEnd(name, program, args, folder, env = process.env) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 2, 2] });
    const forward = (signal) => child.kill(signal);
    for (const signal of SIGNALS) process.on(signal, forward);
    const settle = (act) => {
      for (const signal of SIGNALS) process.off(signal, forward);
      act();
    };
    child.once('error', (error) => settle(() => reject(error)));
    child.once('exit', (code, signal) =>
      settle(() => (code === 0 ? resolve() : reject(new Error(`${name} ended with ${signal ?? `code ${code}`}`)))),
    );
  });
}
