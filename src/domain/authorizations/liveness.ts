/**
 * States of an authorization grant (see `grantState`) as conditions for statements.
 * @param grant alias of `oauth2_authorization_grants`
 * @param now parameter with the time, a `timestamptz`
 */
export function grantIsPending(grant: string, now: string): string {
  return `(${grantIsUnanswered(grant)} and ${grant}.expires_at > ${now})`;
}

/** Pending, or expired by time. */
export function grantIsUnanswered(grant: string): string {
  return `(${grant}.fulfilled_at is null and ${grant}.cancelled_at is null)`;
}

/** Neither exchanged nor cancelled. */
export function grantIsOpen(grant: string): string {
  return `(${grant}.cancelled_at is null and ${grant}.exchanged_at is null)`;
}

/** Not expired (a grant lasts an hour) and not exchanged. Two partial indexes hold such grants. */
export function grantIsUnused(grant: string, now: string): string {
  return `(${grant}.exchanged_at is null and ${grant}.expires_at > ${now})`;
}

/** Fulfilled, exchanged, or cancelled after that. */
export function grantHasCode(grant: string): string {
  return `(${grant}.fulfilled_at is not null)`;
}

/**
 * It has a code that may still be exchanged.
 * @param oldest parameter with the earliest time at which a code that is still valid was made, a `timestamptz`
 */
export function codeIsValid(grant: string, oldest: string): string {
  return `(${grantIsOpen(grant)} and ${grant}.fulfilled_at >= ${oldest})`;
}

/**
 * States of a device code grant (see `deviceCodeGrantState`).
 * @param grant alias of `oauth2_device_code_grants`
 * @param now parameter with the time, a `timestamptz`
 */
export function deviceCodeGrantIsPending(grant: string, now: string): string {
  return `(${deviceCodeGrantIsUnanswered(grant)} and ${grant}.expires_at > ${now})`;
}

/** Pending, or expired by time; one partial index holds such grants. */
export function deviceCodeGrantIsUnanswered(grant: string): string {
  return `(${grant}.fulfilled_at is null and ${grant}.rejected_at is null)`;
}

/** Confirmed by a person, and the device has not come for its tokens yet. */
export function deviceCodeGrantIsRedeemable(grant: string, now: string): string {
  return `(${grant}.exchanged_at is null
    and ${grant}.fulfilled_at is not null and ${grant}.expires_at > ${now})`;
}

/** Led to no session so far, and may still do so; one partial index holds such grants. */
export function deviceCodeGrantIsUnused(grant: string, now: string): string {
  return `(${grant}.exchanged_at is null and ${grant}.expires_at > ${now})`;
}

/**
 * A pushed request of which a grant may still be made.
 * @param pushed alias of `oauth2_pushed_requests`
 * @param now parameter with the time, a `timestamptz`
 */
export function pushedRequestIsWaiting(pushed: string, now: string): string {
  return `(${pushed}.expires_at > ${now} and ${pushed}.consumed_at is null)`;
}

/**
 * A pushed request of which no grant was made, though it may be too late for that; one partial index holds such requests.
 * @param pushed alias of `oauth2_pushed_requests`
 * @param since parameter with the earliest time of expiry that counts, a `timestamptz`
 */
export function pushedRequestIsUnused(pushed: string, since: string): string {
  return `(${pushed}.consumed_at is null and ${pushed}.expires_at > ${since})`;
}
