/** What the rows of authorizations keep under seal. */
import type { UpstreamAuthorizationId } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';

/** What ties the answer of a provider to the request. */
export interface AuthorizationSecrets {
  /** Undefined: no ID token was asked for. */
  readonly nonce: string | undefined;
  /** Undefined: without PKCE. */
  readonly verifier: string | undefined;
  /** The person was asked to prove again that it is them. */
  readonly isReauthentication: boolean;
  /** The invitation that the person came with, for the account that they may make. */
  readonly registrationToken: string | undefined;
}

type Claims = Readonly<Record<string, unknown>>;

/** What a provider said of a person. */
export interface UpstreamAnswer {
  /** Empty when there was no ID token. */
  readonly idTokenClaims: Claims;
  /** Empty when userinfo was not asked. */
  readonly userinfoClaims: Claims;
  /** Fields of the callback that no standard names. */
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
  };
}

export function sealAnswer(keys: KeyRing, id: UpstreamAuthorizationId, answer: UpstreamAnswer): Buffer {
  return keys.seal('column', JSON.stringify(answer), associatedData('answer', id));
}

export function openAnswer(keys: KeyRing, id: UpstreamAuthorizationId, sealed: Buffer): UpstreamAnswer {
  const value = open(keys, 'answer', id, sealed);
  return {
    idTokenClaims: objectOf(value['idTokenClaims']),
    userinfoClaims: objectOf(value['userinfoClaims']),
    extraCallbackParameters: objectOf(value['extraCallbackParameters']),
  };
}

function open(keys: KeyRing, column: string, id: UpstreamAuthorizationId, sealed: Buffer): Claims {
  const opened = keys.open('column', sealed, associatedData(column, id));
  if (opened === undefined) throw new Error(`an upstream authorization cannot be opened with secrets.encryption`);
  return objectOf(JSON.parse(opened.toString()));
}

function objectOf(value: unknown): Claims {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

function associatedData(column: string, id: UpstreamAuthorizationId): string {
  return `upstream_authorizations|${column}|${id}`;
}
