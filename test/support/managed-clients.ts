import { parseId } from '#platform/base/ids.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import { basic, type MachineResponse, member, type OAuthService } from './oauth-service.ts';

/** Metadata of a confidential client. Its redirect URI is the one that the service's `signIn` uses. */
export const REGISTRATION = {
  client_name: 'Managed',
  client_uri: 'https://app.example.org/',
  redirect_uris: ['https://app.example.org/callback'],
  grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
};

export interface ManagedApplication {
  readonly id: ClientId;
  readonly secret: string;
  /** The registration access token. */
  readonly token: string;
  /** The complete registration response. */
  readonly registered: MachineResponse['body'];
}

export async function registerManaged(
  service: OAuthService,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<ManagedApplication> {
  const response = await service.request('/oauth2/registration', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...REGISTRATION, ...changes }),
  });
  if (response.status !== 201) throw new Error(`registration failed: ${response.text}`);
  const id = parseId<'client'>(member(response, 'client_id'));
  if (id === undefined) throw new Error('the client_id is not a ULID');
  return {
    id,
    secret: member(response, 'client_secret'),
    token: member(response, 'registration_access_token'),
    registered: response.body,
  };
}

/** Sends a request to a client's configuration endpoint. @param token omitted if undefined */
export async function manage(
  service: OAuthService,
  method: string,
  id: string,
  token: string | undefined,
  body?: unknown,
): Promise<MachineResponse> {
  return await service.request(`/oauth2/registration/${id}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}

/** Signs a user in to the client. */
export async function signInWith(
  service: OAuthService,
  { id, secret }: Pick<ManagedApplication, 'id' | 'secret'>,
): Promise<{ readonly accessToken: string; readonly refreshToken: string }> {
  const { code } = await service.signIn(id);
  const response = await service.post(
    '/oauth2/token',
    { grant_type: 'authorization_code', code, redirect_uri: 'https://app.example.org/callback' },
    basic(id, secret),
  );
  return { accessToken: member(response, 'access_token'), refreshToken: member(response, 'refresh_token') };
}
