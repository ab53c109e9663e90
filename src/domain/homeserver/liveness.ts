/**
 * The time of the lease is over, or further ahead than any lease reaches: it was taken before the clock was set back, and
 * its holder may be gone. A condition for statements.
 * @param lease alias of `homeserver_leases`; @param now the parameter that holds the process clock
 */
export function leaseIsOver(lease: string, now: string): string {
  return `(${leaseIsPast(lease, now)} or ${lease}.expires_at > ${now} + interval '2 minutes')`;
}

/** The same for the clean-up, which goes by an index: one from before the clock was set back is over for who needs it. */
export function leaseIsPast(lease: string, now: string): string {
  return `${lease}.expires_at <= ${now}`;
}
