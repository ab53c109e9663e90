/**
 * `npm run unit`: runs the tests that need neither a database nor the built program, without starting one. Arguments are
 * passed to vitest.
 */
import { prepare } from './steps/prepare.js';
import { run } from './steps/run.js';
import { say } from './steps/say.js';
import { readTestFiles } from './steps/test-needs.js';
import { runVitest } from './steps/vitest.js';

await run(async () => {
  await prepare({ withTools: true, withBuild: false });
  refuseTestsWithDatabase(process.argv.slice(2));
});
await runVitest('run', '--config', 'vitest.unit.config.ts', ...process.argv.slice(2));

/** Reports the selected tests that need a database. Throws if all of them do. */
function refuseTestsWithDatabase(args) {
  const { all, withDatabase } = readTestFiles();
  const selecting = args.map((arg) => arg.replace(/^\.\//, '')).filter((arg) => all.some((file) => file.includes(arg)));
  const isSelected = (file) => selecting.some((arg) => file.includes(arg));
  const refused = withDatabase.filter(isSelected);
  if (refused.length === 0) return;
  const command = `npm test -- ${selecting.join(' ')}`;
  if (refused.length === all.filter(isSelected).length) {
    throw new Error(`the selected tests need a database: ${refused.join(', ')}. Run: ${command}`);
  }
  say(`${refused.length} of the selected test files need a database and do not run. To run them too: ${command}`);
}
