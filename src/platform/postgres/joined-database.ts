import type { Database, Transaction } from './database.ts';

/**
 * Returns an open transaction as a database, for operations that open a transaction themselves: theirs becomes part of
 * this one. The caller must not catch the errors of such an operation, because they roll back everything.
 */
export function joinedDatabase(transaction: Transaction): Database {
  return {
    isTransaction: false,
    rows: (made, parameters) => transaction.rows(made, parameters),
    first: (made, parameters) => transaction.first(made, parameters),
    execute: (made, parameters) => transaction.execute(made, parameters),
    transaction: (work) => work(transaction),
  };
}
