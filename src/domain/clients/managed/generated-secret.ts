import type { Secret } from '#platform/base/secret.ts';
import { CLIENT_AUTH_METHODS } from '#protocol/oauth/client-metadata.ts';
import { newSecret } from '../client.ts';

/** Generates a secret if the client's method uses one. An unknown method is reported when the members are parsed. */
export function generatedSecret(members: Readonly<Record<string, unknown>>): Secret | undefined {
  const method = CLIENT_AUTH_METHODS.find((known) => known === members['client_auth_method']);
  return method === undefined ? undefined : newSecret(method);
}
