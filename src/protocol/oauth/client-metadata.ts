/** What clients may be registered with, in the order in which metadata lists it (RFC 7591 section 2). */

export const CLIENT_SECRET_METHODS = ['client_secret_basic', 'client_secret_post'] as const;
export const CLIENT_AUTH_METHODS = [...CLIENT_SECRET_METHODS, 'none'] as const;
export type ClientAuthMethod = (typeof CLIENT_AUTH_METHODS)[number];

/** RFC 8628 3.4. */
export const DEVICE_CODE_GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code';

export const GRANT_TYPES = [
  'authorization_code',
  'refresh_token',
  'client_credentials',
  DEVICE_CODE_GRANT_TYPE,
] as const;
export type GrantType = (typeof GRANT_TYPES)[number];

export const RESPONSE_TYPES = ['code'] as const;

/** OpenID Connect Core 1.0 8. */
export const SUBJECT_TYPES = ['public', 'pairwise'] as const;
export type SubjectType = (typeof SUBJECT_TYPES)[number];
