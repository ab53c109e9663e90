/**
 * SQL conditions for the states of an authorization grant (see `grantState`).
 * @param grant alias of `oauth2_authorization_grants`
 * @param now parameter with the time, a `timestamptz`
 */
export function grantIsPending(grant: string, now: string): string {
  return `(${grantIsUndecided(grant)} and ${grant}.expires_at > ${now})`;
}

/** Pending, or expired by time. */
export function grantIsUndecided(grant: string): string {
  return `(${grant}.fulfilled_at is null and ${grant}.cancelled_at is null)`;
}

/** Neither exchanged nor canceled. */
export function grantIsOpen(grant: string): string {
  return `(${grant}.cancelled_at is null and ${grant}.exchanged_at is null)`;
}

/** Neither expired (a grant lasts an hour) nor exchanged. Condition of two partial indexes. */
export function grantIsUnused(grant: string, now: string): string {
  return `(${grant}.exchanged_at is null and ${grant}.expires_at > ${now})`;
}

/** Fulfilled, exchanged, or canceled after the code was issued. */
export function grantHasCode(grant: string): string {
  return `(${grant}.fulfilled_at is not null)`;
}

/**
 * The code can still be exchanged.
 * @param oldest parameter with the earliest issue time of a valid code, a `timestamptz`
 */
export function codeIsValid(grant: string, oldest: string): string {
  return `(${grantIsOpen(grant)} and ${grant}.fulfilled_at >= ${oldest})`;
}

/**
 * SQL conditions for the states of a device code grant (see `deviceCodeGrantState`).
 * @param grant alias of `oauth2_device_code_grants`
 * @param now parameter with the time, a `timestamptz`
 */
export function deviceCodeGrantIsPending(grant: string, now: string): string {
  return `(${deviceCodeGrantIsUndecided(grant)} and ${grant}.expires_at > ${now})`;
}

/** Pending, or expired by time. Condition of a partial index. */
export function deviceCodeGrantIsUndecided(grant: string): string {
  return `(${grant}.fulfilled_at is null and ${grant}.rejected_at is null)`;
}

/** Confirmed by the user, and not yet exchanged by the device. */
export function deviceCodeGrantIsRedeemable(grant: string, now: string): string {
  return `(${grant}.exchanged_at is null
    and ${grant}.fulfilled_at is not null and ${grant}.expires_at > ${now})`;
}

/** Neither exchanged nor expired. Condition of a partial index. */
export function deviceCodeGrantIsUnused(grant: string, now: string): string {
  return `(${grant}.exchanged_at is null and ${grant}.expires_at > ${now})`;
}

/**
 * The pushed request can still be used for a grant.
 * @param pushed alias of `oauth2_pushed_requests`
 * @param now parameter with the time, a `timestamptz`
 */
export function pushedRequestIsWaiting(pushed: string, now: string): string {
  return `(${pushed}.expires_at > ${now} and ${pushed}.consumed_at is null)`;
}

/**
 * The pushed request was not used for a grant; it may already have expired. Condition of a partial index.
 * @param pushed alias of `oauth2_pushed_requests`
 * @param since parameter with the earliest expiry that counts, a `timestamptz`
 */
export function pushedRequestIsUnused(pushed: string, since: string): string {
  return `(${pushed}.consumed_at is null and ${pushed}.expires_at > ${since})`;
}
