import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs `work` and closes what it opened, the last first, when it is over, has failed, or a signal ends this process.
 * @param work gets `opened(resource)`, which returns the resource and remembers its `stop`
 */
export async function withOpened(work) {
  const resources = [];
  let closing;
  const closeAll = () => {
    closing ??= close(resources);
    return closing;
  };
  const onSignal = async (signal) => {
    // What is at work loses what it works with.
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

/** One that cannot be closed must not keep the others open. */
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
