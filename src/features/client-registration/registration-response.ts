import type { Urls } from '#browser/urls.ts';
import type { ClientMetadata } from '#domain/clients/client.ts';
import { epochSeconds } from '#platform/base/clock.ts';
import type { Secret } from '#platform/base/secret.ts';
import type { ClientId } from '#vocabulary/ids.ts';

export interface DescribedClient {
  readonly id: ClientId;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly secret: Secret | undefined;
  readonly metadata: ClientMetadata;
}

/**
 * Builds the client information response (RFC 7591 3.2.1, RFC 7592 3): everything that is stored, and the secret.
 * @param managementToken the registration access token; undefined if the client cannot manage its registration
 */
export function registrationResponse(
  { id, createdAt, secret, metadata }: DescribedClient,
  managementToken: string | undefined,
  urls: Urls,
): object {
  return {
    client_id: id,
    client_id_issued_at: epochSeconds(createdAt),
    ...(secret === undefined ? {} : { client_secret: secret.reveal(), client_secret_expires_at: 0 }),
    ...(managementToken === undefined
      ? {}
      : {
          registration_access_token: managementToken,
          registration_client_uri: urls.absolute(`oauth2/registration/${id}`),
        }),
    ...Object.fromEntries(Object.entries(metadata).flatMap(([name, value]) => withVariants(name, value))),
  };
}

/** A value in several languages is written as `name`, `name#de` and so on (RFC 7591 2.2). */
function withVariants(name: string, value: unknown): [string, unknown][] {
  const isInLanguages = value !== null && typeof value === 'object' && Object.hasOwn(value, '');
  if (!isInLanguages) return [[name, value]];
  return Object.entries(value).map(([tag, text]) => [tag === '' ? name : `${name}#${tag}`, text]);
}
