/**
 * Runs the import rules and proves that they were applied: a cruise that read fewer modules than there are source
 * files would pass without having looked.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

const sources = readdirSync('src', { recursive: true }).filter((name) => /\.tsx?$/.test(name)).length;
const run = spawnSync('npx', ['depcruise', 'src', '--output-type', 'json'], {
  encoding: 'utf8',
  maxBuffer: 256 * 1024 * 1024,
});
let report;
try {
  report = JSON.parse(run.stdout);
} catch {
  process.stderr.write(`the import rules did not run: ${run.stderr || run.stdout}\n`);
  process.exit(1);
}
const cruised = report.modules.filter((module) => /^src\/.*\.tsx?$/.test(module.source)).length;
for (const violation of report.summary.violations) {
  process.stderr.write(`${violation.rule.name}: ${violation.from} -> ${violation.to}\n`);
}
process.stdout.write(`${cruised} of ${sources} source files read, ${report.summary.error} violations\n`);
process.exitCode = report.summary.error === 0 && cruised >= sources ? 0 : 1;
