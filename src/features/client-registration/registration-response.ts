import type { RegisteredClient } from '#domain/clients/register-client.ts';
import { epochSeconds } from '#platform/base/clock.ts';
import type { RegisteredMetadata } from '#protocol/oauth/registration-request.ts';

/** What a client is told of its registration (RFC 7591 3.2.1): all that is stored, and its secret, once. */
export function registrationResponse(client: RegisteredClient, metadata: RegisteredMetadata): object {
  return {
    client_id: client.id,
    client_id_issued_at: epochSeconds(client.createdAt),
    ...(client.secret === undefined ? {} : { client_secret: client.secret.reveal(), client_secret_expires_at: 0 }),
    ...Object.fromEntries(Object.entries(metadata).flatMap(([name, value]) => withVariants(name, value))),
  };
}

/** A value in several languages is written as `name`, `name#de` and so on (RFC 7591 2.2). */
function withVariants(name: string, value: unknown): [string, unknown][] {
  const isLocalized = value !== null && typeof value === 'object' && !Array.isArray(value) && name !== 'jwks';
  if (!isLocalized) return [[name, value]];
  return Object.entries(value).map(([tag, text]) => [tag === '' ? name : `${name}#${tag}`, text]);
}
