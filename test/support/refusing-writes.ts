import type { OpenDatabase } from '#platform/postgres/database.ts';

/** A database whose statements that write and return a row fail for a reason that nobody foresaw. */
export function refusingWrites(database: OpenDatabase): OpenDatabase {
  const first: OpenDatabase['first'] = async (statement, parameters) => {
    if (!statement.isReadOnly) throw new Error('write refused');
    return await database.first(statement, parameters);
  };
  return new Proxy(database, { get: (target, name) => (name === 'first' ? first : Reflect.get(target, name)) });
}
