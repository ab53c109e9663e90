import type { Database, Transaction, TransactionOptions } from '#platform/postgres/database.ts';

/**
 * Runs a transaction whose work can still be refused after writes: `refuse` rolls everything back, and its outcome is
 * the result.
 */
export async function refusableTransaction<Outcome>(
  database: Database,
  work: (transaction: Transaction, refuse: (outcome: Outcome) => never) => Promise<Outcome>,
  options?: TransactionOptions,
): Promise<Outcome> {
  class Refused extends Error {
    readonly outcome: Outcome;

    constructor(outcome: Outcome) {
      super('refused');
      this.outcome = outcome;
    }
  }
  const refuse = (outcome: Outcome): never => {
    throw new Refused(outcome);
  };
  try {
    return await database.transaction((transaction) => work(transaction, refuse), options);
  } catch (error) {
    if (error instanceof Refused) return error.outcome;
    throw error;
  }
}
