/**
 * `npm run check`: runs the checks that need only the sources, as many at a time as there are processors. Arguments
 * select checks whose names contain one of them.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { root } from './steps/places.js';
import { prepare } from './steps/prepare.js';
import { run } from './steps/run.js';
import { say } from './steps/say.js';

/** Longer output of a failed check is shortened to its end. */
const MAX_OUTPUT = 6_000;

await run(async () => {
  await prepare({ withTools: true, withBuild: false });
  const selected = process.argv.slice(2);
  const checks = readChecks().filter(
    ({ name }) => selected.length === 0 || selected.some((part) => name.includes(part)),
  );
  if (checks.length === 0) throw new Error(`no check has a name with ${selected.join(' or ')}`);
  const waiting = [...checks];
  const failed = [];
  await Promise.all(Array.from({ length: availableParallelism() }, () => work(waiting, failed)));
  for (const { name, command, advice, output } of failed) {
    process.stdout.write(`\n== ${name}: ${command}\n${output.slice(-MAX_OUTPUT).trimEnd()}\nTo fix: ${advice}\n`);
  }
  const list = failed.length === 0 ? '' : `: ${failed.map(({ name }) => name).join(', ')}`;
  say(`${checks.length - failed.length} checks passed, ${failed.length} failed${list}`);
  process.exitCode = failed.length === 0 ? 0 : 1;
});

/** Reads the list that `.ci/run` uses too, slowest first: name, shell command, and how to fix a failure. */
function readChecks() {
  const lines = readFileSync(join(root, '.ci/checks/cheap.txt'), 'utf8').trim().split('\n');
  return lines.map((line) => {
    const [name, command, advice] = line.split('|');
    return { name, command, advice };
  });
}

async function work(waiting, failed) {
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
    const started = performance.now();
    const { isPassed, output } = await outcomeOf(check.command);
    if (!isPassed) failed.push({ ...check, output });
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    process.stdout.write(`${isPassed ? 'ok    ' : 'FAILED'} ${check.name} (${seconds} s)\n`);
  }
}

async function outcomeOf(command) {
  const child = spawn('sh', ['-c', command], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const collect = (text) => {
    output += text;
  };
  child.stdout.setEncoding('utf8').on('data', collect);
  child.stderr.setEncoding('utf8').on('data', collect);
  const [status] = await once(child, 'close');
  return { isPassed: status === 0, output };
}
