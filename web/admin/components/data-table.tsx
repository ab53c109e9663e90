import type { ComponentChildren, VNode } from 'preact';
import { useLocation } from 'preact-iso/router';
import { withParameters } from '../api/admin-client.ts';
import { useTexts } from '../i18n/translations.ts';
import type { Selection } from './bulk-bar.tsx';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Value of the URL parameter `sort` for this column, if an index of the API supports it. */
  readonly sort?: string;
}

/** Selection of rows for bulk actions. */
interface RowSelection<Row> extends Selection {
  /** Name of a row, for screen readers. */
  readonly nameOf: (row: Row) => string;
}

// Some browsers forget the meaning of a table that the style sheet shows as blocks, unless it has these roles.
const TABLE = { role: 'table' } as const;
const ROWS = { role: 'rowgroup' } as const;
const ROW = { role: 'row' } as const;
const COLUMN_HEADER = { role: 'columnheader' } as const;
const ROW_HEADER = { role: 'rowheader' } as const;
const CELL = { role: 'cell' } as const;

/** From so many columns beside the first on, times have no room for a line each. */
const DENSE_COLUMNS = 6;

/** A list as a table, and as cards on a narrow screen. The first column identifies the row. */
export function DataTable<Row extends { readonly id: string }>({
  label,
  columns: [first, ...others],
  rows,
  isLoading,
  selection,
}: {
  /** Accessible name. */
  label: string;
  columns: readonly [Column<Row>, ...Column<Row>[]];
  rows: readonly Row[];
  /** The rows of another filter are still shown. */
  isLoading: boolean;
  selection?: RowSelection<Row>;
}): VNode {
  const { t } = useTexts();
  const areAllSelected = selection !== undefined && rows.every(({ id }) => selection.ids.has(id));
  return (
    <table
      class={others.length < DENSE_COLUMNS ? 'data' : 'data data-dense'}
      {...TABLE}
      aria-label={label}
      aria-busy={isLoading}
    >
      <thead {...ROWS}>
        <tr {...ROW}>
          {selection !== undefined && (
            <th scope="col" {...COLUMN_HEADER} class="select">
              <input
                type="checkbox"
                aria-label={t('admin.selection.all')}
                checked={areAllSelected}
                onChange={() => selection.change(new Set(areAllSelected ? [] : rows.map(({ id }) => id)))}
              />
            </th>
          )}
          {[first, ...others].map((column) => (
            <ColumnHeader key={column.title} column={column} />
          ))}
        </tr>
      </thead>
      <tbody {...ROWS}>
        {rows.map((row) => (
          <tr key={row.id} {...ROW} aria-selected={selection?.ids.has(row.id)}>
            {selection !== undefined && (
              <td {...CELL} class="select">
                <input
                  type="checkbox"
                  aria-label={t('admin.selection.row', { name: selection.nameOf(row) })}
                  checked={selection.ids.has(row.id)}
                  onChange={() => selection.change(toggled(selection.ids, row.id))}
                />
              </td>
            )}
            <th scope="row" {...ROW_HEADER}>
              {first.cell(row)}
            </th>
            {others.map(({ title, cell }) => (
              <td key={title} {...CELL} data-label={title}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function toggled(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const changed = new Set(ids);
  if (!changed.delete(id)) changed.add(id);
  return changed;
}

/** A click sorts by the column, a second one in the opposite order. Another order starts at the first page. */
function ColumnHeader<Row>({ column: { title, sort } }: { column: Column<Row> }): VNode {
  const { path, query } = useLocation();
  if (sort === undefined) {
    return (
      <th scope="col" {...COLUMN_HEADER}>
        {title}
      </th>
    );
  }
  const current = query['sort'];
  const direction = current === sort ? 'ascending' : current === `-${sort}` ? 'descending' : undefined;
  const { after: _after, before: _before, ...kept } = query;
  const href = withParameters(path, { ...kept, sort: direction === 'ascending' ? `-${sort}` : sort });
  return (
    <th scope="col" {...COLUMN_HEADER} aria-sort={direction ?? 'none'}>
      <a class="sort" href={href}>
        {title}
      </a>
    </th>
  );
}
