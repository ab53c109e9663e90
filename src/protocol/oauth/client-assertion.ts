/** Validates the claims of a client assertion (RFC 7523 3, OpenID Connect Core 1.0 section 9, oauth 5.3). */

/** Tolerance for a client's clock. */
const SKEW_SECONDS = 60;
const MAX_LIFETIME_SECONDS = 600;
/** Clients that use the longest lifetime may be slightly ahead. */
const LIFETIME_SKEW_SECONDS = 30;
const MAX_AGE_SECONDS = 600;
const MAX_ID_CHARACTERS = 255;
/**
 * RFC 8725 3.11: other kinds of JWT have another type. `client-authentication+jwt` is from a later draft of RFC 7523.
 */
const TYPES: readonly unknown[] = [undefined, 'jwt', 'client-authentication+jwt'];

export interface AssertionRules {
  /** Returns whether a text is the ID of the client that the assertion is for. */
  readonly isClient: (text: string) => boolean;
  /** Identifiers of this server. The assertion may contain any of them and no other. */
  readonly audiences: readonly string[];
  /** `aud` must be a string, not a list (FAPI 2.0 Security Profile 5.3.2.1). */
  readonly needsSingleAudience: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export type AssertionClaims =
  /** `expiresAt`: from then on, no clock accepts the assertion, in milliseconds since the epoch. */
  | { readonly ok: true; readonly id: string; readonly expiresAt: number }
  /** A sentence for the client's developer. */
  | { readonly ok: false; readonly problem: string };

/** Validates an assertion whose signature was verified. */
export function readAssertion(
  jwt: { readonly type: string | undefined; readonly claims: Readonly<Record<string, unknown>> },
  rules: AssertionRules,
): AssertionClaims {
  const { iss, sub, aud, exp, nbf, iat, jti } = jwt.claims;
  const seconds = rules.now / 1000;
  if (!TYPES.includes(jwt.type)) return wrong('has the typ of a different kind of JWT');
  if (!names(iss, rules.isClient) || !names(sub, rules.isClient))
    return wrong('must have the client ID as iss and sub');
  if (rules.needsSingleAudience && typeof aud !== 'string') return wrong('must have the issuer as a string in aud');
  if (!isForUs(aud, rules.audiences)) return wrong('must have only the issuer or this endpoint as aud');
  if (typeof exp !== 'number') return wrong('must have an exp');
  if (exp + SKEW_SECONDS <= seconds) return wrong('has expired');
  if (exp > seconds + MAX_LIFETIME_SECONDS + LIFETIME_SKEW_SECONDS) {
    return wrong(`must be valid for at most ${MAX_LIFETIME_SECONDS} seconds`);
  }
  for (const [name, time] of [
    ['nbf', nbf],
    ['iat', iat],
  ] as const) {
    if (time === undefined) continue;
    if (typeof time !== 'number' || time > seconds + SKEW_SECONDS) return wrong(`has an ${name} in the future`);
  }
  if (typeof iat === 'number' && iat < seconds - MAX_AGE_SECONDS) return wrong('was issued too long ago');
  if (typeof jti !== 'string' || jti === '' || jti.length > MAX_ID_CHARACTERS) {
    return wrong(`must have a jti of 1 to ${MAX_ID_CHARACTERS} characters`);
  }
  return { ok: true, id: jti, expiresAt: (exp + SKEW_SECONDS) * 1000 };
}

function names(value: unknown, isClient: (text: string) => boolean): boolean {
  return typeof value === 'string' && isClient(value);
}

/**
 * RFC 7523 3 requires this server among the audiences. With other audiences, an assertion could be replayed there or
 * originate there.
 */
function isForUs(aud: unknown, audiences: readonly string[]): boolean {
  const named: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  return named.length > 0 && named.every((one) => audiences.some((audience) => audience === one));
}

function wrong(problem: string): AssertionClaims {
  return { ok: false, problem: `The client assertion ${problem}.` };
}
