/**
 * For a database that was put back or moved: what was waiting may have been done since by the one it was copied from.
 * Such jobs are dead until an operator retries them; what comes back by itself begins again at the next start.
 * Parameters: the time, and the reason that is shown.
 */
export const HOLD_JOBS = `
  update queue_jobs set worker = null, failed_at = $1::timestamptz, failed_reason = $2::text
   where failed_at is null`;
