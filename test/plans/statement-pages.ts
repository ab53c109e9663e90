/** Renders `docs/sql/`: what each composed statement reads and writes, with its text. */
import { basename } from 'node:path';
import type { AnyStatement } from '#platform/postgres/statement.ts';
import { code, table } from '../../scripts/reference/markdown.ts';
import { formatSql } from './format-sql.ts';
import type { TableUse } from './read-plan.ts';
import type { StatementSource } from './statement-sources.ts';

export interface DescribedStatement {
  readonly made: AnyStatement;
  /** Whether the service sends several calls as one statement. */
  readonly isJoined: boolean;
  readonly source: StatementSource;
  /** Types of the parameters, in the order of their numbers. */
  readonly types: readonly string[];
  readonly tables: ReadonlyMap<string, TableUse>;
}

const INDEX = 'README.md';

/** Whether the statement writes several tables, or is a write with fragments of other files. */
export function isShown({ source, tables }: DescribedStatement): boolean {
  const written = [...tables.values()].filter(({ writes }) => writes.size > 0).length;
  return written > 1 || (written === 1 && source.fragments.length > 0);
}

/** Returns the pages by their name in `docs/sql/`: an index, and one page for each module. */
export function statementPages(statements: readonly DescribedStatement[]): Map<string, string> {
  const sorted = statements.toSorted(
    (one, other) => compare(one.source.file, other.source.file) || compare(one.made.label, other.made.label),
  );
  const modules = groupBy(sorted, ({ source }) => moduleOf(source.file));
  const pages = new Map([[INDEX, indexPage(modules, sorted)]]);
  for (const [module, own] of modules) pages.set(pageOf(module), modulePage(module, own));
  return pages;
}

function indexPage(
  modules: ReadonlyMap<string, readonly DescribedStatement[]>,
  statements: readonly DescribedStatement[],
): string {
  const tables = [...new Set(statements.flatMap((one) => [...one.tables.keys()]))].toSorted();
  const writers = tables.map((name) => ({
    name,
    links: statements.filter((one) => (one.tables.get(name)?.writes.size ?? 0) > 0).map(linkTo),
  }));
  return `# SQL

What each operation writes: the full text of the statements that write several tables, or that are writes composed of
fragments of other files, with their parameters, tables and indexes. Other statements are readable in their source files.

These pages are generated from the registered statements and their plans on a filled database. After a change of a
statement or of an index, run \`npm test -- test/plans/plans.test.ts -u\` and review the diff.

- **Tables** and **indexes** come from the generic plan of the embedded server. \`read\` means that the statement only
  reads the table. Rows that foreign keys delete or check are not listed; \`migrations/schema.sql\` has the keys.
- **Parameters** have the types that PostgreSQL inferred from the casts.
- **Fragments** are the pieces of other files, in the order of their first use.
- The text is indented, and has \`:name\` where the server receives \`$1\`. Otherwise it is what the server receives.
- "Joined" means that under load the service sends several calls as one statement
  ([decision 0038](../decisions/0038-statements-that-travel-together.md)).

## Modules

${table(
  ['Module', 'Operations'],
  [...modules].map(([module, own]) => [
    `[${code(module)}](${pageOf(module)})`,
    [...groupBy(own, ({ source }) => source.file).keys()]
      .map((file) => `[${operationOf(file)}](${pageOf(module)}#${anchorOf(operationOf(file))})`)
      .join(', '),
  ]),
)}

## Writes by table

${table(
  ['Table', 'Statements'],
  writers.filter(({ links }) => links.length > 0).map(({ name, links }) => [code(name), links.join(', ')]),
)}
`;
}

function modulePage(module: string, statements: readonly DescribedStatement[]): string {
  const operations = groupBy(statements, ({ source }) => source.file);
  const sections = [...operations].map(
    ([file, own]) =>
      `## ${operationOf(file)}\n\nSource: [${code(file)}](../../${file})\n\n${own.map(statementSection).join('\n\n')}`,
  );
  return `# SQL of ${module}

Generated from the source; [SQL](${INDEX}) explains the format.

${sections.join('\n\n')}
`;
}

function statementSection({ made, isJoined, source, types, tables }: DescribedStatement): string {
  const uses = [...tables].toSorted(([one], [other]) => compare(one, other));
  const parameters = made.parameterNames.map((name, index) => `${code(name)} ${shortType(types[index] ?? '')}`);
  const fragments = source.fragments.map(({ name, file }) => `[${code(name)}](../../${file})`);
  return [
    `### ${made.label}${isJoined ? '\n\nJoined.' : ''}`,
    table(
      ['Table', 'Use', 'Indexes'],
      uses.map(([name, { writes, indexes }]) => [
        code(name),
        writes.size === 0 ? 'read' : [...writes].toSorted().join(', '),
        [...indexes].toSorted().map(code).join(', '),
      ]),
    ),
    ...(parameters.length === 0 ? [] : [`Parameters: ${parameters.join(', ')}`]),
    ...(fragments.length === 0 ? [] : [`Fragments: ${fragments.join(', ')}`]),
    `\`\`\`sql\n${formatSql(namedText(made))}\n\`\`\``,
  ].join('\n\n');
}

/** As casts write it. */
function shortType(type: string): string {
  return type.replace('timestamp with time zone', 'timestamptz').replace('double precision', 'float8');
}

function namedText({ text, parameterNames }: AnyStatement): string {
  return text.replace(/\$(\d+)/g, (number, digits: string) => {
    const name = parameterNames[Number(digits) - 1];
    return name === undefined ? number : `:${name}`;
  });
}

function linkTo({ made, source }: DescribedStatement): string {
  return `[${made.label}](${pageOf(moduleOf(source.file))}#${anchorOf(made.label)})`;
}

/** `domain/accounts` for `src/domain/accounts/passwords/accepted-password.ts`. */
function moduleOf(file: string): string {
  return file.split('/').slice(1, 3).join('/');
}

function pageOf(module: string): string {
  return `${basename(module)}.md`;
}

/** The path below the module. */
function operationOf(file: string): string {
  return file.split('/').slice(3).join('/');
}

/** As GitHub makes it of a heading. */
function anchorOf(heading: string): string {
  return heading.replaceAll(/[^\w-]/g, '');
}

function groupBy<Item>(items: readonly Item[], key: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
