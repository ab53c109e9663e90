import { execFileSync, spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const running = new Set();
// Child processes end with this process in any case.
process.on('exit', () => {
  for (const child of running) killTree(child.pid);
});

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

/** @param account of the process, if this one runs as root. Its output goes to a file. */
export function startProcess([command, ...args], { account, environment, folder, log }) {
  const output = openSync(log, 'a');
  const stdio = ['ignore', output, output];
  const child = spawn(command, args, { ...account, cwd: folder, env: environment, stdio });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Kills a process and its descendants without a graceful shutdown. */
export async function endTree(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  killTree(child.pid);
  await ended;
}

/** Stops the descendants first, so that they do not respond after another one is dead. */
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

/**
 * @returns the result of `question` once it is truthy
 * @param what for the error after `seconds`
 */
export async function until(question, what, seconds = 60) {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const answer = await question();
    if (answer) return answer;
    if (performance.now() > deadline) throw new Error(`waited ${seconds} s for ${what}`);
    await pause(20);
  }
}
