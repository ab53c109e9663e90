import { type Statement, statement } from './statement.ts';

/**
 * Registers an insert of the rows of one caller. Under load, inserts of one kind are sent as one statement
 * (`JoinedStatements`), so that they share a round trip, a plan execution and a commit.
 * @param types SQL type of each parameter
 * @param source what follows `with`: CTEs and the final query. Reads the parameters as columns of `asked`, which has one
 * row for each caller, and returns `asked.place` as `place`
 */
export function append<Row, Parameters extends object>(
  label: string,
  types: { readonly [Name in keyof Parameters & string]: string },
  source: string,
): Statement<Row, Parameters> {
  const parameters = Object.entries<string>(types);
  const single = parameters.map(([name, type]) => `:${name}::${type} as "${name}"`);
  // `unnest` flattens arrays of arrays, so an array parameter arrives as text.
  const arrays = parameters.map(([name, type]) => `:${name}::${type.replace('[]', '')}[]`);
  const columns = parameters.map(([name]) => `"${name}"`);
  const values = parameters.map(([name, type]) => `"${name}"::${type} as "${name}"`);
  const joined = statement(
    `${label}.joined`,
    `with asked as materialized (
    select ${values.join(', ')}, place::integer
      from unnest(${arrays.join(', ')}) with ordinality as of_callers(${columns.join(', ')}, place)
  ), ${source}`,
  );
  const alone = statement<Row, Parameters>(
    label,
    `with asked as materialized (
    select ${single.join(', ')}, 1 as place
  ), ${source}`,
  );
  return { ...alone, joined };
}
