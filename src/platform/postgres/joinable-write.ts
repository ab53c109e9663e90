import { type Statement, statement } from './statement.ts';

/** The SQL type of each parameter. */
type Types<Parameters extends object> = { readonly [Name in keyof Parameters & string]: string };

/**
 * Registers a write on behalf of one caller. Under load, writes of one kind are sent as one statement
 * (`JoinedStatements`), so that they share a round trip, a plan execution and a commit.
 * @param source what follows `with`: CTEs and the final query. Reads the parameters as columns of `asked`, which has one
 * row for each caller, and returns `asked.place` as `place`
 */
export function joinableWrite<Row, Parameters extends object>(
  label: string,
  types: Types<Parameters>,
  source: string,
): Statement<Row, Parameters> {
  const parameters = Object.entries<string>(types);
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
  return { ...singleWrite<Row, Parameters>(label, types, source), joined };
}

/** Registers the write without joining it. Use for writes of several callers that may affect the same rows. */
export function singleWrite<Row, Parameters extends object>(
  label: string,
  types: Types<Parameters>,
  source: string,
): Statement<Row, Parameters> {
  const values = Object.entries<string>(types).map(([name, type]) => `:${name}::${type} as "${name}"`);
  return statement<Row, Parameters>(
    label,
    `with asked as materialized (
    select ${values.join(', ')}, 1 as place
  ), ${source}`,
  );
}
