/**
 * No browser session or account came of the authorization yet. A condition for statements.
 * @param authorization alias of `upstream_authorizations`
 */
export function authorizationIsUnused(authorization: string): string {
  return `${authorization}.consumed_at is null`;
}

/**
 * The authorization led to a link, and no browser session came of it yet. A condition for statements.
 * @param authorization alias of `upstream_authorizations`; @param completedAfter time expression
 */
export function authorizationIsUnconsumed(authorization: string, completedAfter: string): string {
  return `${authorization}.completed_at > ${completedAfter} and ${authorizationIsUnused(authorization)}`;
}

const COMPLETED_MS = 30 * 60_000;

/** How long a person may take between the provider and the last button; the parameter of the condition above. */
export function completedAfter(now: number): Date {
  return new Date(now - COMPLETED_MS);
}
