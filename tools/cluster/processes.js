import { execFileSync, spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const running = new Set();
// Whatever ends this process, what it started ends with it.
process.on('exit', () => {
  for (const child of running) killTree(child.pid);
});

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

/** @param account of the process, when this one is root. What it says goes to a file. */
export function startProcess([command, ...args], { account, environment, folder, log }) {
  const output = openSync(log, 'a');
  const stdio = ['ignore', output, output];
  const child = spawn(command, args, { ...account, cwd: folder, env: environment, stdio });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Ends a process and all that it started, without a word. */
export async function endTree(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  killTree(child.pid);
  await ended;
}

/** Those that it started first stop, so that none of them answers once another one is gone. */
export function killTree(pid) {
  const pids = withChildren(pid);
  for (const signal of ['SIGSTOP', 'SIGKILL']) for (const one of pids) send(one, signal);
}

function withChildren(pid) {
  try {
    const children = execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map(Number);
    return [pid, ...children.flatMap(withChildren)];
  } catch {
    return [pid];
  }
}

function send(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}

/** @returns what `question` answers once that is true. @param what for the error after `seconds` */
export async function until(question, what, seconds = 60) {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const answer = await question();
    if (answer) return answer;
    if (performance.now() > deadline) throw new Error(`waited ${seconds} s for ${what}`);
    await pause(20);
  }
}
