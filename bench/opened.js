import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs `work`. Afterwards, closes everything that it opened, in reverse order, even if it failed or a signal ends this
 * process.
 * @param work gets `opened(resource)`, which registers the `stop` of a resource and returns it
 */
export async function withOpened(work) {
  const resources = [];
  let closing;
  const closeAll = () => {
    closing ??= close(resources);
    return closing;
  };
  const onSignal = async (signal) => {
    // Running work fails as its resources close.
    process.on('uncaughtException', () => {});
    await closeAll();
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of SIGNALS) process.once(signal, onSignal);
  try {
    return await work((resource) => {
      resources.push(resource);
      return resource;
    });
  } finally {
    await closeAll();
    for (const signal of SIGNALS) process.removeListener(signal, onSignal);
  }
}

/** If one cannot be closed, the others are still closed. */
async function close(resources) {
  const failures = [];
  while (resources.length > 0) {
    try {
      await resources.pop().stop();
    } catch (error) {
      failures.push(error);
    }
  }
  for (const error of failures) process.stderr.write(`bench: ${error.message}\n`);
}
