import type { StaticClientConfig } from '#config/sections/clients.ts';
import type { SigningKeys } from '#domain/signing-keys/signing-keys.ts';
import type { Log } from '#platform/base/log.ts';

/** Warns of clients that get no ID tokens, since no key signs with the algorithm that they are configured for. */
export function warnOfMissingAlgorithms(
  clients: readonly Pick<StaticClientConfig, 'clientId' | 'idTokenSignedResponseAlg'>[],
  signingKeys: Pick<SigningKeys, 'algorithms' | 'canSign'>,
  log: Log,
): void {
  const without = clients.filter((client) => !signingKeys.canSign(client.idTokenSignedResponseAlg));
  if (without.length === 0) return;
  log.warn('startup', 'no key signs with the id_token_signed_response_alg of these clients: sign-ins to them fail', {
    clients: without.map((client) => `${client.clientId}=${client.idTokenSignedResponseAlg}`).join(' '),
    available: signingKeys.algorithms().join(' '),
  });
}
