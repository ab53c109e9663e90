import type { Client } from '#domain/clients/client.ts';
import { isNameOf } from '#domain/clients/client-names.ts';
import type { Core } from '#domain/core.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import { parseCompactJws } from '#protocol/jose/compact-jws.ts';
import { isSigningAlgorithm } from '#protocol/jose/signing-algorithms.ts';
import { FAPI2_ALGORITHMS } from '#protocol/oauth/fapi2.ts';
import { type RequestObjectOutcome, readRequestObject } from '#protocol/oauth/request-object.ts';

const SIGNATURE_PROBLEMS = {
  'unknown-key': 'is signed with a key that is not registered for the client',
  'bad-signature': 'has an invalid signature',
  'keys-unavailable': 'cannot be verified: fetching the jwks_uri of the client failed',
} as const;

/**
 * Verifies the `request` parameter with the client's keys and reads the parameters in it (RFC 9101 6). The algorithm
 * must be the registered one, or any algorithm with a private key.
 * @param plain the parameters outside of it
 */
export async function verifyRequestObject(
  { clientAuthentication, clock, config }: Pick<Core, 'clientAuthentication' | 'clock' | 'config'>,
  client: Client,
  plain: FormParameters,
): Promise<RequestObjectOutcome> {
  const jws = parseCompactJws(plain.get('request') ?? '');
  if (jws === undefined) return refuse('must be a JWT signed by the client');
  const registered = client.requestObjectSigningAlg;
  if (registered !== undefined ? jws.algorithm !== registered : !isSigningAlgorithm(jws.algorithm)) {
    return refuse(`must be signed with ${registered ?? 'a private key of the client'}`);
  }
  if (client.isFapi2 && !FAPI2_ALGORITHMS.includes(jws.algorithm)) {
    return refuse(`must be signed with ${FAPI2_ALGORITHMS.join(', ')}`);
  }
  const signature = await clientAuthentication.keys.verify(client, jws);
  if (!signature.ok) {
    return refuse(SIGNATURE_PROBLEMS[signature.reason]);
  }
  const isClient = (text: string) => isNameOf(client, text);
  const { issuer } = config.http;
  return readRequestObject(jws, { isClient, issuer, needsNotBefore: client.isFapi2, now: clock.now(), plain });
}

function refuse(problem: string): RequestObjectOutcome {
  return { ok: false, problem: `the request object ${problem}` };
}
