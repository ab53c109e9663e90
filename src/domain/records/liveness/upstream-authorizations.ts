/**
 * Returns an SQL condition: the authorization has not led to a browser session or account yet.
 * @param authorization alias of `upstream_authorizations`
 */
export function authorizationIsUnused(authorization: string): string {
  return `${authorization}.consumed_at is null`;
}

/**
 * Returns an SQL condition: the authorization led to a link, but not to a browser session yet.
 * @param authorization alias of `upstream_authorizations`
 * @param completedAfter time expression
 */
export function authorizationIsUnconsumed(authorization: string, completedAfter: string): string {
  return `${authorization}.completed_at > ${completedAfter} and ${authorizationIsUnused(authorization)}`;
}

const COMPLETED_MS = 30 * 60_000;

/** Returns the parameter for the condition above, which limits the time between the provider and the last step. */
export function completedAfter(now: number): Date {
  return new Date(now - COMPLETED_MS);
}
