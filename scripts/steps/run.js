import { say } from './say.js';

const [major, minor] = process.versions.node.split('.').map(Number);

/** Runs a script. Prints an error as one line without a stack trace. */
export async function run(work) {
  if (major < 20 || (major === 20 && minor < 19)) {
    say(`Node.js 20.19 or later is needed, this is ${process.versions.node}`);
    process.exit(1);
  }
  try {
    await work();
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    process.exit(1);
  }
}
