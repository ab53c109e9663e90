/**
 * Reads JSON reports of vitest for `.ci/run`.
 *
 *     node .ci/report.js failures REPORT       prints a line for each failed test
 *     node .ci/report.js files REPORT          prints the files with failed tests
 *     node .ci/report.js counts REPORT         prints "PASSED FAILED"; fails if no test ran
 *     node .ci/report.js merge FIRST SECOND    adds the files of FIRST that SECOND lacks to SECOND
 */
import { readFileSync, writeFileSync } from 'node:fs';

const say = (...words) => process.stdout.write(`${words.join(' ')}\n`);
const [command, file, second] = process.argv.slice(2);
const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
const report = read(file);
const hasFailed = ({ status, assertionResults }) =>
  status === 'failed' || assertionResults.some((test) => test.status === 'failed');
const count = (files, status) => files.flatMap((one) => one.assertionResults).filter((test) => test.status === status);

if (command === 'failures') {
  const said = (messages) => messages.map((text) => text.split('\n', 1)[0]).join('; ');
  for (const { name, message, assertionResults } of report.testResults) {
    if (message) say(name, said([message]));
    for (const { status, fullName, failureMessages } of assertionResults) {
      if (status === 'failed') say(name, fullName, said(failureMessages));
    }
  }
} else if (command === 'files') {
  for (const one of report.testResults.filter(hasFailed)) say(one.name);
} else if (command === 'counts') {
  if (report.numTotalTests === 0) throw new Error('no test ran');
  say(report.numPassedTests, report.numFailedTests);
} else if (command === 'merge') {
  const later = read(second);
  const repeated = new Set(later.testResults.map(({ name }) => name));
  const testResults = [...report.testResults.filter(({ name }) => !repeated.has(name)), ...later.testResults];
  const numPassedTests = count(testResults, 'passed').length;
  const numFailedTests = count(testResults, 'failed').length;
  const numTotalTests = count(testResults, 'pending').length + numPassedTests + numFailedTests;
  writeFileSync(second, JSON.stringify({ numTotalTests, numPassedTests, numFailedTests, testResults }));
}
