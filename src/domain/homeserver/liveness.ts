/**
 * The time of the lease is over. A condition for statements.
 * @param lease alias of `homeserver_leases`; @param now the parameter that holds the process clock
 */
export function leaseIsOver(lease: string, now: string): string {
  return `${lease}.expires_at <= ${now}`;
}
