/**
 * Returns an SQL condition: the lease has expired, or expires later than any valid lease. The latter was taken before
 * the clock was set back, and its holder may be gone.
 * @param lease alias of `homeserver_leases`
 * @param now the parameter that holds the process clock
 */
export function leaseIsOver(lease: string, now: string): string {
  return `(${leaseIsPast(lease, now)} or ${lease}.expires_at > ${now} + interval '2 minutes')`;
}

/**
 * Returns the condition for the clean-up, which uses an index. It leaves leases from before the clock was set back,
 * which `leaseIsOver` handles when the lease is needed.
 */
export function leaseIsPast(lease: string, now: string): string {
  return `${lease}.expires_at <= ${now}`;
}
