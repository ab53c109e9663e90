/**
 * Finds migrations that read or write a whole table while requests wait (operations 8.3): changes to existing tables
 * must take no longer with ten million rows. Jobs backfill rows. Migrations with `-- expand concurrently` build
 * indexes. The baseline creates the tables that it changes, and `migrations/pre-release/` never changes.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** Tables that hold rows for a few days at most, whose indexes may be built with writes blocked. */
const SMALL = new Set(['oauth2_pushed_requests', 'queue_workers', 'user_registrations']);

const RULES = [
  { what: 'changes rows', matches: /^(update|delete from|insert into|with|truncate|merge)\b/ },
  { what: 'builds an index while nobody can write', matches: /^create (unique )?index (?!concurrently)/ },
  {
    what: 'reads every row for a constraint',
    matches: /\badd (constraint|check|foreign key|unique|primary key)\b(?!.*\bnot valid\b)/,
  },
  { what: 'reads every row for a constraint', matches: /\bset not null\b/ },
  { what: 'writes every row again', matches: /\balter( column)? \w+ (set data )?type\b/ },
  { what: 'writes every row again', matches: /\badd column .*\b(generated always|default [^,]*\w\()/ },
  { what: 'writes every row again', matches: /^(cluster|vacuum full|reindex(?! .*concurrently))\b/ },
];

const files = readdirSync('migrations').filter((name) => /^\d{4}-.*\.sql$/.test(name));
let found = 0;
for (const file of files) {
  const made = new Set();
  for (const statement of statementsOf(readFileSync(`migrations/${file}`, 'utf8'))) {
    const created = /^create (?:unlogged )?table (?:if not exists )?(\w+)/.exec(statement)?.[1];
    if (created !== undefined) made.add(created);
    const table = /^(?:create .*?\bon|alter table(?: if exists)?(?: only)?|update|delete from|insert into) (\w+)/.exec(
      statement,
    )?.[1];
    if (created !== undefined || made.has(table)) continue;
    for (const { what, matches } of RULES) {
      if (!matches.test(statement) || (SMALL.has(table) && what.includes('index'))) continue;
      found += 1;
      process.stderr.write(`migrations/${file}: ${what}: ${statement.slice(0, 120)}\n`);
    }
  }
}
process.stdout.write(`${files.length} migrations read, ${found} statements that could hold up requests\n`);
process.exitCode = found === 0 && files.length > 0 ? 0 : 1;

/** In lowercase, without comments and repeated spaces. Function bodies are skipped. */
function statementsOf(text) {
  return text
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/\$\$.*?\$\$/gs, "''")
    .replaceAll(/'(?:[^']|'')*'/g, "''")
    .toLowerCase()
    .split(';')
    .map((statement) => statement.replaceAll(/\s+/g, ' ').trim())
    .filter((statement) => statement !== '');
}
