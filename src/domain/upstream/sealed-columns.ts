/** Encrypted columns of authorizations. */
import type { KeyRing } from '#platform/base/sealing.ts';
import type { UpstreamAuthorizationId } from '#vocabulary/ids.ts';

/** Values that bind the provider's response to the request. */
export interface AuthorizationSecrets {
  /** Undefined if no ID token was requested. */
  readonly nonce: string | undefined;
  /** Undefined without PKCE. */
  readonly verifier: string | undefined;
  /** Whether the user was asked to reauthenticate. */
  readonly isReauthentication: boolean;
  /** The registration token that the user came with, for a new account. */
  readonly registrationToken: string | undefined;
  /** Proof that the link with the token was sent to its address. */
  readonly invitationProof: string | undefined;
}

type Claims = Readonly<Record<string, unknown>>;

/** What a provider sent about a user. */
export interface UpstreamResponse {
  /** Empty without an ID token. */
  readonly idTokenClaims: Claims;
  /** Empty if userinfo was not requested. */
  readonly userinfoClaims: Claims;
  /** Nonstandard fields of the callback. */
  readonly extraCallbackParameters: Claims;
}

export function sealAuthorizationSecrets(
  keys: KeyRing,
  id: UpstreamAuthorizationId,
  secrets: AuthorizationSecrets,
): Buffer {
  return keys.seal('column', JSON.stringify(secrets), associatedData('secrets', id));
}

export function openAuthorizationSecrets(
  keys: KeyRing,
  id: UpstreamAuthorizationId,
  sealed: Buffer,
): AuthorizationSecrets {
  const value = open(keys, 'secrets', id, sealed);
  const text = (name: string): string | undefined => (typeof value[name] === 'string' ? value[name] : undefined);
  return {
    nonce: text('nonce'),
    verifier: text('verifier'),
    isReauthentication: value['isReauthentication'] === true,
    registrationToken: text('registrationToken'),
    invitationProof: text('invitationProof'),
  };
}

export function sealResponse(keys: KeyRing, id: UpstreamAuthorizationId, response: UpstreamResponse): Buffer {
  return keys.seal('column', JSON.stringify(response), associatedData('answer', id));
}

export function openResponse(keys: KeyRing, id: UpstreamAuthorizationId, sealed: Buffer): UpstreamResponse {
  const value = open(keys, 'answer', id, sealed);
  return {
    idTokenClaims: objectOf(value['idTokenClaims']),
    userinfoClaims: objectOf(value['userinfoClaims']),
    extraCallbackParameters: objectOf(value['extraCallbackParameters']),
  };
}

function open(keys: KeyRing, column: string, id: UpstreamAuthorizationId, sealed: Buffer): Claims {
  const opened = keys.open('column', sealed, associatedData(column, id));
  if (opened === undefined) throw new Error(`an upstream authorization cannot be decrypted with secrets.encryption`);
  return objectOf(JSON.parse(opened.toString()));
}

function objectOf(value: unknown): Claims {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

function associatedData(column: string, id: UpstreamAuthorizationId): string {
  return `upstream_authorizations|${column}|${id}`;
}
