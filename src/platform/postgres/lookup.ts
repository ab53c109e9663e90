import { type Statement, statement } from './statement.ts';

/**
 * Registers a read of a few rows by key. Under load, look-ups of one kind are sent as one statement
 * (`JoinedStatements`), which saves most of the processor time on both sides.
 *
 * Every use of a parameter needs a cast, and parameters cannot be arrays.
 * @param joinedSource the same look-up without parts that cannot be joined, such as a write. It returns the same columns
 * and `is_incomplete`.
 */
export function lookup<Row, Parameters extends object>(
  label: string,
  source: string,
  joinedSource: string = source,
): Statement<Row, Parameters> {
  const joined = statement(`${label}.joined`, joinLookup(label, joinedSource));
  return { ...statement<Row, Parameters>(label, source), joined };
}

/** `:name::type`, or `:name` alone. */
const PARAMETER = /(?<![:\w]):([a-z][A-Za-z0-9]*)(?:::([a-z]+\d*)\b(?!\[))?/g;

/** The look-up for each element of its parameters, which become arrays. */
function joinLookup(label: string, source: string): string {
  const types = new Map<string, string>();
  const each = source.replace(PARAMETER, (_, name: string, type: string | undefined) => {
    if (type === undefined || (types.get(name) ?? type) !== type) {
      throw new Error(`look-up ${label} has to cast :${name} to one type, and to no array`);
    }
    types.set(name, type);
    return `asked."${name}"`;
  });
  const arrays = [...types].map(([name, type]) => `:${name}::${type}[]`);
  const columns = [...types.keys()].map((name) => `"${name}"`);
  return `select asked.place::integer as place, found.*
    from unnest(${arrays.join(', ')}) with ordinality as asked(${columns.join(', ')}, place)
   cross join lateral (${each}) as found`;
}
