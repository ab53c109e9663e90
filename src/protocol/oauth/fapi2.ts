/** Requirements for clients with `profile: fapi2` (FAPI 2.0 Security Profile 5.3 and 5.4, Message Signing 5.3). */
export const CLIENT_PROFILES = ['fapi2'] as const;
export type ClientProfile = (typeof CLIENT_PROFILES)[number];

/** Security Profile 5.4.1; `Ed25519` is the newer name of EdDSA (RFC 9864). */
export const FAPI2_ALGORITHMS: readonly string[] = ['PS256', 'ES256', 'EdDSA', 'Ed25519'];

/** Default for signed responses. Keys generated at the first start can sign with it. */
export const FAPI2_RESPONSE_ALGORITHM = 'ES256';

/** Security Profile 5.3.2.1. */
export const FAPI2_CODE_SECONDS = 60;

/** Maximum age of a request object's `nbf`, and maximum time from `nbf` to `exp` (Message Signing 5.3.1). */
export const FAPI2_REQUEST_OBJECT_SECONDS = 3600;

/** With a shared secret, anyone who learns it could act for the client (Security Profile 5.3.2.1). */
export const FAPI2_AUTH_METHOD = 'private_key_jwt';
