import type { Client } from 'pg';

/** Enough for the planner to use every suitable index. */
const ROWS = 3_000;

/** Columns tied to another one by a check constraint, and the condition under which they are filled. */
const TIED: Readonly<Record<string, string>> = {
  // One of few words: generated clients are configured or registered.
  'oauth2_clients.kind': 'false',
  'personal_sessions.owner_user_id': 'g % 3 > 0',
  'personal_sessions.owner_client_id': 'g % 3 = 0',
  'webauthn_challenges.login_id': 'g % 3 > 0',
  'webauthn_challenges.user_session_id': 'g % 3 = 0',
};

/** Columns with few possible values. */
const VALUES: Readonly<Record<string, string>> = {
  'oauth2_clients.kind': `case when g % 3 = 0 then 'managed' end`,
};

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly position: number;
  readonly isNullable: boolean;
  /** The referenced column. */
  readonly parent: { readonly table: string; readonly column: string } | null;
}

/**
 * Fills every table with generated rows and analyzes it. Row g of a table refers to row g of others. A third of each
 * nullable column is null, so that partial indexes contain part of the rows.
 * @param first number of the first row, to add more later; @param except tables to skip
 * @returns the filled tables
 */
export async function fillTables(
  client: Client,
  {
    rows: count = ROWS,
    first = 1,
    except = new Set<string>(),
  }: { rows?: number; first?: number; except?: ReadonlySet<string> } = {},
): Promise<string[]> {
  const { rows } = await client.query<Column>(COLUMNS);
  const filled = [...parentsFirst(rows)].filter(([table]) => !except.has(table));
  for (const [table, columns] of filled) {
    const names = columns.map((column) => column.name).join(', ');
    const values = columns.map(expressionFor).join(', ');
    await client.query(
      `insert into ${table} (${names}) select ${values} from generate_series(${first}, ${first + count - 1}) g`,
    );
  }
  await client.query('analyze');
  return filled.map(([table]) => table);
}

function parentsFirst(columns: readonly Column[]): Map<string, Column[]> {
  const remaining = new Map<string, Column[]>();
  for (const column of columns) remaining.set(column.table, [...(remaining.get(column.table) ?? []), column]);
  const ordered = new Map<string, Column[]>();
  while (remaining.size > 0) {
    const ready = [...remaining].find(([table, own]) =>
      own.every(({ parent }) => parent === null || parent.table === table || ordered.has(parent.table)),
    );
    if (ready === undefined) throw new Error(`tables refer to each other in a circle: ${[...remaining.keys()]}`);
    ordered.set(...ready);
    remaining.delete(ready[0]);
  }
  return ordered;
}

function expressionFor(column: Column): string {
  const { table, column: name } = column.parent ?? { table: column.table, column: column.name };
  const value = `(${made(column.type, `${table}.${name}`)})::${column.type}`;
  const chosen = VALUES[`${column.table}.${column.name}`];
  if (chosen !== undefined) return chosen;
  const filledWhen = TIED[`${column.table}.${column.name}`];
  if (filledWhen !== undefined) return `case when ${filledWhen} then ${value} end`;
  if (!column.isNullable) return value;
  return `case when (g + ${column.position}) % 3 > 0 then ${value} end`;
}

function made(type: string, origin: string): string {
  const text = `'${origin}.' || g`;
  switch (type) {
    case 'uuid':
      return `md5(${text})`;
    case 'text':
      return text;
    case 'bytea':
      return `sha256((${text})::bytea)`;
    case 'integer':
    case 'bigint':
      return 'g % 7 + 1';
    case 'boolean':
      return 'g % 2 = 0';
    case 'timestamp with time zone':
      return `timestamptz '2026-01-01' + g * interval '1 minute'`;
    case 'inet':
      return `inet '10.0.0.0' + g`;
    case 'jsonb':
      return `jsonb_build_object('g', g)`;
    case 'bytea[]':
      return `array[sha256((${text})::bytea)]`;
    case 'uuid[]':
      return `array[md5(${text})::uuid]`;
    case 'date':
      return `date '2026-01-01' + g`;
    case 'text[]':
      return `array[${text}]`;
    case 'timestamp with time zone[]':
      return `array[timestamptz '2026-01-01' + g * interval '1 minute']`;
    default:
      throw new Error(`no values are made for columns of type ${type} (${origin}); add them here`);
  }
}

const COLUMNS = `
select c.relname as table, quote_ident(a.attname) as name, format_type(a.atttypid, null) as type,
  a.attnum as position, not a.attnotnull as "isNullable",
  (select json_build_object('table', f.confrelid::regclass::text, 'column', pa.attname)
    from pg_constraint f join pg_attribute pa on pa.attrelid = f.confrelid and pa.attnum = f.confkey[1]
    where f.contype = 'f' and f.conrelid = c.oid and f.conkey = array[a.attnum] limit 1) as parent
from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relname <> 'schema_migrations'
order by c.relname, a.attnum`;
