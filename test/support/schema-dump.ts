import { administer } from './administer.ts';

/**
 * Returns the schema of a database as SQL, read from the catalogs. The bundled server has no `pg_dump`, whose output
 * also differs between PostgreSQL versions. Tables, columns, constraints, indexes, comments, functions and triggers are
 * written in full, other objects as kind and name.
 */
export async function dumpSchema(connectionString: string): Promise<string> {
  const statements = await administer<{ sql: string }>(connectionString, DUMP);
  return `-- The schema after all migrations; written by the test that compares it (vitest -u), never by hand.\n\n${statements
    .map((row) => row.sql)
    .join('\n\n')}\n`;
}

const DUMP = `
with tables as (
  select c.oid, c.relname, c.relpersistence, c.reloptions, obj_description(c.oid, 'pg_class') as remark
  from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
), columns as (
  select t.oid, a.attnum as position, '  ' || quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod)
    || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
    || case when a.attnotnull then ' not null' else '' end
    || case when a.attstorage = 'e' then ' storage external' else '' end as line,
    e'\\ncomment on column ' || quote_ident(t.relname) || '.' || quote_ident(a.attname) || ' is '
    || quote_literal(col_description(t.oid, a.attnum)) || ';' as remark
  from tables t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef d on d.adrelid = t.oid and d.adnum = a.attnum
), constraints as (
  -- Newer versions list "not null" among the constraints too; here it is kept with its column.
  select c.conrelid as oid, array_position(array['p', 'u', 'c', 'f', 'x'], c.contype::text) as rank, c.conname,
    '  constraint ' || quote_ident(c.conname) || ' ' || pg_get_constraintdef(c.oid) as line
  from pg_constraint c join tables t on t.oid = c.conrelid where c.contype <> 'n'
), lines as (
  select oid, 1 as part, position::int as rank, '' as name, line from columns
  union all select oid, 2, rank, conname, line from constraints
), indexes as (
  select t.oid, c.relname,
    replace(pg_get_indexdef(i.indexrelid), ' ON ' || quote_ident(current_schema()) || '.', ' ON ') || ';' as line
  from tables t join pg_index i on i.indrelid = t.oid join pg_class c on c.oid = i.indexrelid
  where not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))
), others as (
  select 'relation of kind ' || relkind::text || ' ' || relname as name, null as definition
  from pg_class where relnamespace = current_schema()::regnamespace and relkind not in ('r', 'i', 't')
  union all select 'function ' || oid::regprocedure,
    replace(pg_get_functiondef(oid), ' FUNCTION ' || quote_ident(current_schema()) || '.', ' FUNCTION ')
  from pg_proc where pronamespace = current_schema()::regnamespace
  union all select 'trigger ' || tgname || ' on ' || tgrelid::regclass, pg_get_triggerdef(oid, true)
  from pg_trigger where not tgisinternal
  union all select 'type ' || typname, null from pg_type
  where typnamespace = current_schema()::regnamespace and typtype in ('d', 'e', 'r')
)
select 'create ' || case t.relpersistence when 'u' then 'unlogged ' else '' end || 'table ' || quote_ident(t.relname)
  || e' (\\n'
  || (select string_agg(line, e',\\n' order by part, rank, name collate "C") from lines l where l.oid = t.oid)
  || e'\\n)' || coalesce(' with (' || array_to_string(t.reloptions, ', ') || ')', '') || ';'
  || coalesce((select string_agg(e'\\n' || line, '' order by relname collate "C") from indexes i where i.oid = t.oid), '')
  || coalesce(e'\\ncomment on table ' || quote_ident(t.relname) || ' is ' || quote_literal(t.remark) || ';', '')
  || coalesce((select string_agg(remark, '' order by position) from columns c where c.oid = t.oid), '') as sql,
  t.relname collate "C" as name
from tables t
union all select coalesce(rtrim(definition, e'\\n') || ';', '-- also: ' || name), e'\\uffff' || name from others
order by name`;
