/** Runs the built service for checks of how it is packaged. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Timeout of a first start with a new database on a busy machine. */
const START_MS = 60_000;

/**
 * Starts the service, requests some pages, and stops it.
 * @param options of `spawn`, and `whileRunning`: called with the service's address
 */
export async function start(program, args, { env, whileRunning, ...options }) {
  const port = await freePort();
  const service = spawn(program, args, {
    ...{ ...options, env: { ...env, PORT: String(port) }, stdio: ['ignore', 'ignore', 'pipe'] },
    // A process group, because a signal to npx alone would not reach its child.
    detached: true,
  });
  let log = '';
  service.stderr.setEncoding('utf8').on('data', (text) => {
    log += text;
  });
  const ended = once(service, 'exit');
  try {
    const base = `http://localhost:${port}`;
    await untilOk(`${base}/health`, () => service.exitCode !== null);
    const login = await (await fetch(`${base}/login`)).text();
    const [, script] = /<link rel="stylesheet" href="([^"]+)"/.exec(login) ?? [];
    if (script === undefined) throw new Error('the login page has no stylesheet');
    await mustBeOk(new URL(script, base));
    await mustBeOk(`${base}/api/spec.json`);
    await whileRunning?.(base);
  } catch (error) {
    throw new Error(`${error.message}\n${log.split('\n').slice(-20).join('\n')}`);
  } finally {
    for (const signal of ['SIGTERM', 'SIGKILL']) {
      try {
        process.kill(-service.pid, signal);
      } catch {
        // All of them have ended, as expected after the first signal.
      }
      await ended;
    }
  }
}

async function untilOk(address, hasEnded) {
  const deadline = performance.now() + START_MS;
  while (performance.now() < deadline && !hasEnded()) {
    const answer = await fetch(address).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${address} did not answer`);
}

async function mustBeOk(address) {
  const { status } = await fetch(address);
  if (status !== 200) throw new Error(`${address} answers ${status}`);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
