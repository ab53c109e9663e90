/** Every algorithm that some supported key can sign with; whether a key fits is checked when the keys are read. */
export const SIGNING_ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'ES256K', 'EdDSA'],
] as const;

export type SigningAlgorithmName = (typeof SIGNING_ALGORITHMS)[number];
