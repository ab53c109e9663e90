/**
 * How strong an authentication is: what a session, a grant and a token say about it in `acr` and `amr` (oauth.md 15.3).
 */

/** One factor: a password, or a sign-in through another service, whatever that service asked for. */
export const ONE_FACTOR_ACR = 'urn:latchkey:acr:1';
/** A second one after it. */
export const TWO_FACTORS_ACR = 'urn:latchkey:acr:2';
/** Proof that cannot be given to another site: a passkey whose holder was verified. */
export const PHISHING_RESISTANT_ACR = 'phr';

/** Every class that an authentication here can reach, weakest first. */
export const ISSUED_ACR_VALUES: readonly string[] = [ONE_FACTOR_ACR, TWO_FACTORS_ACR, PHISHING_RESISTANT_ACR];

/** Whether an authentication of class `reached` is as strong as `wanted`, which is one of those above. */
export function reachesAcr(reached: string | undefined, wanted: string): boolean {
  return reached !== undefined && ISSUED_ACR_VALUES.indexOf(reached) >= ISSUED_ACR_VALUES.indexOf(wanted);
}

/** The strongest class that a person with these factors can reach. */
export function strongestAcr(has: { readonly hasTotp: boolean; readonly hasPasskey: boolean }): string {
  if (has.hasPasskey) return PHISHING_RESISTANT_ACR;
  return has.hasTotp ? TWO_FACTORS_ACR : ONE_FACTOR_ACR;
}

/** What a person proved who they are with. */
export type ProvenFactor =
  | { readonly kind: 'password' }
  | { readonly kind: 'totp' | 'recovery_code' }
  /** `amr`: what the other service said, where it is trusted to. */
  | { readonly kind: 'upstream'; readonly amr: readonly string[] }
  /** `isSynced`: its key can be on several devices of the person. */
  | { readonly kind: 'passkey'; readonly isSynced: boolean };

/** The `kind` of an authentication, as the table of a session's authentications has it. */
export type AuthenticationKind = ProvenFactor['kind'];

/** What a session says about the factors that its person has just given. */
export interface AuthenticationStrength {
  readonly acr: string;
  /** Methods of RFC 8176. */
  readonly amr: readonly string[];
}

/** @param factors in the order in which they were given; a passkey stands for two of them */
export function strengthOf(factors: readonly ProvenFactor[]): AuthenticationStrength {
  const hasPasskey = factors.some(({ kind }) => kind === 'passkey');
  const hasTwo = hasPasskey || factors.length > 1;
  const methods = [...factors.flatMap(methodsOf), ...(hasTwo ? ['mfa'] : [])];
  const acr = hasPasskey ? PHISHING_RESISTANT_ACR : hasTwo ? TWO_FACTORS_ACR : ONE_FACTOR_ACR;
  return { acr, amr: [...new Set(methods)] };
}

function methodsOf(factor: ProvenFactor): readonly string[] {
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
