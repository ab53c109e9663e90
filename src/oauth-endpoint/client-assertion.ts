import { acceptedSecret, type UsedSecret } from '#domain/clients/accepted-secret.ts';
import type { Client } from '#domain/clients/client.ts';
import { isNameOf } from '#domain/clients/client-names.ts';
import type { Core } from '#domain/core.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { type CompactJws, isMacOf, parseCompactJws } from '#protocol/jose/compact-jws.ts';
import { readAssertion } from '#protocol/oauth/client-assertion.ts';
import { assertionAlgorithms } from '#protocol/oauth/client-metadata.ts';
import { FAPI2_ALGORITHMS } from '#protocol/oauth/fapi2.ts';

/** The unverified content of an assertion. */
export interface ClaimedAssertion {
  /** Undefined if the assertion is not a signed JWT. */
  readonly jws: CompactJws | undefined;
  /** The client that the assertion claims to come from. */
  readonly name: string | undefined;
}

/** Names of this service that assertions may use as audience. */
export interface AssertionAudiences {
  readonly issuer: string;
  readonly endpoints: readonly string[];
}

export type AssertionOutcome =
  | {
      readonly ok: true;
      readonly client: Client;
      readonly method: string;
      /** Undefined if the assertion is signed with a key of the client. */
      readonly secret: UsedSecret | undefined;
      /** Its `jti`, which may be used only once until it expires (milliseconds since the epoch). */
      readonly oneTime: { readonly id: string; readonly expiresAt: number };
    }
  | {
      readonly ok: false;
      readonly reason: 'unknown_client' | 'wrong_auth_method' | 'bad_client_assertion' | 'client_keys_unavailable';
      readonly client: Client | undefined;
      /**
       * What the client's developer must fix. Sent only if the caller has the client's key, or if that cannot be
       * determined.
       */
      readonly problem?: string;
    };

/**
 * Reads which client an assertion claims to come from: its `sub` (RFC 7523 3).
 * @throws LatchkeyError `invalid_request` if `client_id` names a different client
 */
export function claimedAssertion(assertion: string, clientId: string | undefined): ClaimedAssertion {
  const jws = parseCompactJws(assertion);
  const subject = jws?.claims['sub'];
  if (typeof subject !== 'string') return { jws, name: undefined };
  if (clientId !== undefined && clientId.toUpperCase() !== subject.toUpperCase()) {
    throw new LatchkeyError('invalid_request', { description: 'client_id does not match the sub of the assertion.' });
  }
  return { jws, name: subject };
}

/**
 * Verifies an assertion with its client's secret or keys, using an algorithm of the client's registered method. Then
 * checks its claims (oauth 5.3).
 * @param issuer the only name of this service that a FAPI 2.0 client may use
 * @param endpoints other names of this service
 */
export async function verifyAssertion(
  deps: Pick<Core, 'clients' | 'clientAuthentication' | 'clock'>,
  { jws, name }: ClaimedAssertion,
  { issuer, endpoints }: AssertionAudiences,
): Promise<AssertionOutcome> {
  const client = name === undefined ? undefined : await deps.clients.findNamed(name);
  if (client === undefined || jws === undefined) return { ok: false, reason: 'unknown_client', client: undefined };
  if (!mayUse(client, jws.algorithm)) return { ok: false, reason: 'wrong_auth_method', client };
  const now = deps.clock.now();
  const signature = await judgeSignature(deps, client, jws, now);
  if (signature.kind === 'keys-unavailable') {
    const problem = 'Fetching the jwks_uri of the client failed.';
    return { ok: false, reason: 'client_keys_unavailable', client, problem };
  }
  if (signature.kind !== 'good') return { ok: false, reason: 'bad_client_assertion', client };
  const isClient = (text: string) => isNameOf(client, text);
  const { isFapi2 } = client;
  const audiences = isFapi2 ? [issuer] : [issuer, ...endpoints];
  const claims = readAssertion(jws, { isClient, audiences, needsSingleAudience: isFapi2, now });
  return claims.ok
    ? { ok: true, client, method: client.authMethod, secret: signature.secret, oneTime: claims }
    : { ok: false, reason: 'bad_client_assertion', client, problem: claims.problem };
}

/** The registration decides, not the header alone: neither method accepts the other's algorithms. */
function mayUse(client: Client, algorithm: string): boolean {
  const registered = client.assertionSigningAlg;
  if (registered !== undefined && registered !== algorithm) return false;
  if (client.isFapi2 && !FAPI2_ALGORITHMS.includes(algorithm)) return false;
  return assertionAlgorithms(client.authMethod)?.includes(algorithm) === true;
}

type SignatureJudgement =
  | { readonly kind: 'good'; readonly secret: UsedSecret | undefined }
  | { readonly kind: 'bad' | 'keys-unavailable' };

async function judgeSignature(
  deps: Pick<Core, 'clientAuthentication'>,
  client: Client,
  jws: CompactJws,
  now: number,
): Promise<SignatureJudgement> {
  if (client.authMethod !== 'private_key_jwt') {
    const secret = acceptedSecret(client, now, (own) => isMacOf(jws, own.reveal()));
    return secret === undefined ? { kind: 'bad' } : { kind: 'good', secret };
  }
  const signature = await deps.clientAuthentication.keys.verify(client, jws);
  if (signature.ok) return { kind: 'good', secret: undefined };
  return { kind: signature.reason === 'keys-unavailable' ? signature.reason : 'bad' };
}
