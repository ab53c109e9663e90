import type { OpenDatabase } from '#platform/postgres/database.ts';

/** A database in which statements that write and return one row fail with an unexpected error. */
export function refusingWrites(database: OpenDatabase): OpenDatabase {
  const first: OpenDatabase['first'] = async (statement, parameters) => {
    if (!statement.isReadOnly) throw new Error('write refused');
    return await database.first(statement, parameters);
  };
  return new Proxy(database, { get: (target, name) => (name === 'first' ? first : Reflect.get(target, name)) });
}
