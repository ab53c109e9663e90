/**
 * Used after a database was restored or moved, since the original may have run the waiting jobs in the meantime. Marks
 * them as dead until an operator retries them. Periodic jobs resume at the next start. Parameters: the time, and the
 * reason to show.
 */
export const HOLD_JOBS = `
  update queue_jobs set worker = null, failed_at = $1::timestamptz, failed_reason = $2::text
   where failed_at is null`;
