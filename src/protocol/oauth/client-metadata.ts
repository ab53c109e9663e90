/** Values that clients may register, in the order of the metadata (RFC 7591 section 2). */
import { ACCEPTED_ALGORITHMS, MAC_ALGORITHMS } from '#protocol/jose/signing-algorithms.ts';

/** Methods of clients that can authenticate. */
export const CONFIDENTIAL_AUTH_METHODS = [
  'client_secret_basic',
  'client_secret_post',
  'client_secret_jwt',
  'private_key_jwt',
] as const;
export const CLIENT_AUTH_METHODS = [...CONFIDENTIAL_AUTH_METHODS, 'none'] as const;
export type ClientAuthMethod = (typeof CLIENT_AUTH_METHODS)[number];

/** Returns whether clients with this method share a secret with the server. */
export function usesSecret(method: ClientAuthMethod): boolean {
  return method !== 'none' && method !== 'private_key_jwt';
}

/**
 * Returns the algorithms of client assertions for a method; undefined if it has none (RFC 7523, OpenID Connect Core 1.0
 * 9).
 */
export function assertionAlgorithms(method: ClientAuthMethod): readonly string[] | undefined {
  if (method === 'client_secret_jwt') return MAC_ALGORITHMS;
  return method === 'private_key_jwt' ? ACCEPTED_ALGORITHMS : undefined;
}

/** RFC 8628 3.4. */
export const DEVICE_CODE_GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code';

/** RFC 8693 2.1. */
export const TOKEN_EXCHANGE_GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** RFC 8693 3. */
export const ACCESS_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token';
export const ID_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:id_token';

/** Values of `grant_types`, which clients register and the operator configures. */
export const REGISTRABLE_GRANT_TYPES = [
  'authorization_code',
  'refresh_token',
  'client_credentials',
  DEVICE_CODE_GRANT_TYPE,
] as const;
export type RegistrableGrantType = (typeof REGISTRABLE_GRANT_TYPES)[number];

/** All grant types. Clients may use the others with a setting of their own. */
export const GRANT_TYPES = [...REGISTRABLE_GRANT_TYPES, TOKEN_EXCHANGE_GRANT_TYPE] as const;
export type GrantType = (typeof GRANT_TYPES)[number];

export const RESPONSE_TYPES = ['code'] as const;

/** OpenID Connect Core 1.0 8. */
export const SUBJECT_TYPES = ['public', 'pairwise'] as const;
export type SubjectType = (typeof SUBJECT_TYPES)[number];
