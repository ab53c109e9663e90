/** Strength of an authentication: the `acr` and `amr` of sessions, grants and tokens (oauth 15.3). */

/** One factor: a password, or an upstream sign-in, whatever the provider required. */
export const ONE_FACTOR_ACR = 'urn:latchkey:acr:1';
/** One factor followed by a second one. */
export const TWO_FACTORS_ACR = 'urn:latchkey:acr:2';
/** Proof that cannot be entered on another site: a passkey with user verification. */
export const PHISHING_RESISTANT_ACR = 'phr';

/** Every class that an authentication can reach here, weakest first. */
export const ISSUED_ACR_VALUES: readonly string[] = [ONE_FACTOR_ACR, TWO_FACTORS_ACR, PHISHING_RESISTANT_ACR];

/** Returns whether an authentication of class `reached` is at least as strong as `wanted`, one of the classes above. */
export function reachesAcr(reached: string | undefined, wanted: string): boolean {
  return reached !== undefined && ISSUED_ACR_VALUES.indexOf(reached) >= ISSUED_ACR_VALUES.indexOf(wanted);
}

/** Returns the strongest class that a user with these factors can reach. */
export function strongestAcr(has: { readonly hasTotp: boolean; readonly hasPasskey: boolean }): string {
  if (has.hasPasskey) return PHISHING_RESISTANT_ACR;
  return has.hasTotp ? TWO_FACTORS_ACR : ONE_FACTOR_ACR;
}

/** A factor that the user has proven. */
export type VerifiedFactor =
  | { readonly kind: 'password' }
  | { readonly kind: 'totp' | 'recovery_code' }
  /** `amr`: from the provider, if it is trusted. */
  | { readonly kind: 'upstream'; readonly amr: readonly string[] }
  /** `isSynced`: the key can exist on several devices of the user. */
  | { readonly kind: 'passkey'; readonly isSynced: boolean };

/** The `kind` of an authentication in the table of a session's authentications. */
export type AuthenticationKind = VerifiedFactor['kind'];

/** What a session records about the factors that its user has just provided. */
export interface AuthenticationStrength {
  readonly acr: string;
  /** Methods of RFC 8176. */
  readonly amr: readonly string[];
}

/** @param factors in chronological order; a passkey counts as two */
export function strengthOf(factors: readonly VerifiedFactor[]): AuthenticationStrength {
  const hasPasskey = factors.some(({ kind }) => kind === 'passkey');
  const hasTwo = hasPasskey || factors.length > 1;
  const methods = [...factors.flatMap(methodsOf), ...(hasTwo ? ['mfa'] : [])];
  const acr = hasPasskey ? PHISHING_RESISTANT_ACR : hasTwo ? TWO_FACTORS_ACR : ONE_FACTOR_ACR;
  return { acr, amr: [...new Set(methods)] };
}

function methodsOf(factor: VerifiedFactor): readonly string[] {
  switch (factor.kind) {
    case 'password':
      return ['pwd'];
    case 'upstream':
      return factor.amr;
    case 'totp':
    case 'recovery_code':
      return ['otp'];
    case 'passkey':
      return [factor.isSynced ? 'swk' : 'hwk', 'user'];
  }
}
