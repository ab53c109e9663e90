/** Prints the expressions of the dashboard as recording rules, so that promtool can check their syntax. */
import { readFileSync } from 'node:fs';
import { stringify } from 'yaml';

const { panels } = JSON.parse(readFileSync('packaging/monitoring/dashboard.json', 'utf8'));
const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const rules = expressions.map((expression, index) => ({
  record: `dashboard:expression:${index}`,
  expr: expression.replaceAll('$job', '.*').replaceAll('$__rate_interval', '5m'),
}));
process.stdout.write(stringify({ groups: [{ name: 'dashboard', rules }] }));
