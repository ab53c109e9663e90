import { z } from 'zod';

/** The parts of PostgreSQL's EXPLAIN (FORMAT JSON) that describe how rows are found. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string | undefined;
  readonly 'Index Name'?: string | undefined;
  readonly 'Index Cond'?: string | undefined;
  /** Of nodes that write. */
  readonly Operation?: string | undefined;
  /** Of insertions with `on conflict`. */
  readonly 'Conflict Arbiter Indexes'?: readonly string[] | undefined;
  /** Per loop, in executed plans. */
  readonly 'Actual Rows'?: number | undefined;
  readonly 'Actual Loops'?: number | undefined;
  readonly 'Rows Removed by Filter'?: number | undefined;
  readonly Plans?: readonly PlanNode[] | undefined;
}

const planNode: z.ZodType<PlanNode> = z.lazy(() =>
  z.object({
    'Node Type': z.string(),
    'Relation Name': z.string().optional(),
    'Index Name': z.string().optional(),
    'Index Cond': z.string().optional(),
    Operation: z.string().optional(),
    'Conflict Arbiter Indexes': z.array(z.string()).optional(),
    'Actual Rows': z.number().optional(),
    'Actual Loops': z.number().optional(),
    'Rows Removed by Filter': z.number().optional(),
    Plans: z.array(planNode).optional(),
  }),
);
const explanation = z.tuple([z.object({ Plan: planNode })]);

const INDEX_SCANS = new Set(['Index Scan', 'Index Only Scan', 'Bitmap Index Scan']);

/**
 * Returns every place where a plan reads a whole table or index, so that its cost grows with the number of rows. Empty
 * for a plan of lookups. Scans of intermediate results (CTEs, functions, value lists) do not count.
 * @param explained the JSON of EXPLAIN
 */
export function findWholeScans(explained: unknown): string[] {
  const [{ Plan }] = explanation.parse(explained);
  const found: string[] = [];
  collect(Plan, found);
  return found;
}

function collect(node: PlanNode, found: string[]): void {
  const type = node['Node Type'];
  if (type === 'Seq Scan' || type === 'Sample Scan') found.push(`${type} on ${node['Relation Name']}`);
  else if (INDEX_SCANS.has(type) && node['Index Cond'] === undefined) {
    found.push(`${type} of all of ${node['Index Name']}`);
  }
  for (const child of node.Plans ?? []) collect(child, found);
}

/** What a statement does with a table. */
export interface TableUse {
  /** `insert`, `update`, `delete` or `merge`; empty if the table is only read. */
  readonly writes: ReadonlySet<string>;
  /** Indexes that find the rows, or the conflicts of insertions. */
  readonly indexes: ReadonlySet<string>;
}

/**
 * Returns the tables that a plan reads or writes, by name.
 * @param explained the JSON of EXPLAIN
 */
export function readTables(explained: unknown): Map<string, TableUse> {
  const [{ Plan }] = explanation.parse(explained);
  const tables = new Map<string, { writes: Set<string>; indexes: Set<string> }>();
  // A bitmap scan names its table above the scans of the indexes.
  const visit = (node: PlanNode, above: string | undefined): void => {
    const table = node['Relation Name'] ?? above;
    if (table !== undefined) {
      const use = tables.get(table) ?? { writes: new Set(), indexes: new Set() };
      tables.set(table, use);
      if (node['Node Type'] === 'ModifyTable' && node.Operation !== undefined) {
        use.writes.add(node.Operation.toLowerCase());
      }
      for (const index of node['Conflict Arbiter Indexes'] ?? []) use.indexes.add(index);
      if (node['Index Name'] !== undefined) use.indexes.add(node['Index Name']);
    }
    const isBitmap = node['Node Type'].startsWith('Bitmap');
    for (const child of node.Plans ?? []) visit(child, isBitmap ? table : undefined);
  };
  visit(Plan, undefined);
  return tables;
}

/**
 * Counts the table rows and index entries that a statement read, including those that a condition then discarded.
 * @param explained the JSON of EXPLAIN (ANALYZE)
 */
export function countReadRows(explained: unknown): number {
  const [{ Plan }] = explanation.parse(explained);
  return sumOver(Plan, (node) => ((node['Relation Name'] ?? node['Index Name']) === undefined ? 0 : rowsOf(node)));
}

function rowsOf(node: PlanNode): number {
  return ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 0);
}

function sumOver(node: PlanNode, value: (node: PlanNode) => number): number {
  return (node.Plans ?? []).reduce((sum, child) => sum + sumOver(child, value), value(node));
}
