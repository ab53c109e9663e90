import type { ComponentChildren, VNode } from 'preact';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
}

// Some browsers forget the meaning of a table that the style sheet shows as blocks, unless it has these roles.
const TABLE = { role: 'table' } as const;
const ROWS = { role: 'rowgroup' } as const;
const ROW = { role: 'row' } as const;
const COLUMN_HEADER = { role: 'columnheader' } as const;
const ROW_HEADER = { role: 'rowheader' } as const;
const CELL = { role: 'cell' } as const;

/** A list as a table, and as cards on a narrow screen. The first column identifies the row. */
export function DataTable<Row extends { readonly id: string }>({
  label,
  columns: [first, ...others],
  rows,
  isLoading,
}: {
  /** Accessible name. */
  label: string;
  columns: readonly [Column<Row>, ...Column<Row>[]];
  rows: readonly Row[];
  /** The rows of another filter are still shown. */
  isLoading: boolean;
}): VNode {
  return (
    <table class="data" {...TABLE} aria-label={label} aria-busy={isLoading}>
      <thead {...ROWS}>
        <tr {...ROW}>
          {[first, ...others].map(({ title }) => (
            <th key={title} scope="col" {...COLUMN_HEADER}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody {...ROWS}>
        {rows.map((row) => (
          <tr key={row.id} {...ROW}>
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
