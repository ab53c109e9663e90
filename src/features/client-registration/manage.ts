import { cancelGrantsOutsideRedirectUris } from '#domain/authorizations/cancel-authorization-grant.ts';
import type { ClientMetadata } from '#domain/clients/client.ts';
import { deleteRegistration } from '#domain/clients/delete-client.ts';
import {
  findRegistration,
  type RegisteredClientRecord,
  type RegistrationAccess,
  type RegistrationSearch,
} from '#domain/clients/registration-access.ts';
import { replaceRegistration } from '#domain/clients/replace-registration.ts';
import { sectorLeft } from '#domain/clients/subjects.ts';
import { clientSessionEnder } from '#domain/oauth-sessions/end-sessions-of-client.ts';
import { acceptMetadata } from '#oauth-endpoint/accept-metadata.ts';
import { requireSectorMember } from '#oauth-endpoint/sector-identifier.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { parseId } from '#platform/base/ids.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, json } from '#platform/http/response.ts';
import { invalidMetadata, MetadataMembers } from '#protocol/oauth/metadata-members.ts';
import { parseBearer } from '#protocol/oauth/presented-credentials.ts';
import { logRefusal, type RegistrationDeps, readObject } from './registration.ts';
import { registrationResponse } from './registration-response.ts';

/** RFC 7592 2.1. */
export async function readClient(deps: RegistrationDeps, context: RequestContext): Promise<HttpResponse> {
  const { access, client } = await authorize(deps, context);
  return describe(deps, access, client);
}

/** RFC 7592 2.2: members omitted from the body are unset. */
export async function replaceClient(deps: RegistrationDeps, context: RequestContext): Promise<HttpResponse> {
  const { access, client } = await authorize(deps, context);
  const body = await readObject(context);
  return await logRefusal(deps, async () => {
    refuseOtherIdentity(body, client);
    const metadata = await acceptMetadata(deps, context, body);
    refuseOtherSector(metadata, client.metadata);
    await requireSectorMember(deps, metadata, context.clientAddress);
    const replaced = accepted(
      await replaceRegistration({ ...deps, cancelGrantsOutsideRedirectUris }, access, metadata),
    );
    deps.clients.forget(access.id);
    deps.log.info('client.replaced', 'client registration replaced by the client', {
      client: access.id,
      method: metadata.token_endpoint_auth_method,
    });
    return describe(deps, access, replaced);
  });
}

/** RFC 7592 2.3. */
export async function deleteClient(deps: RegistrationDeps, context: RequestContext): Promise<HttpResponse> {
  const { access } = await authorize(deps, context);
  const { clientAddress: address, userAgent } = context;
  const deletion = await deleteRegistration({ ...deps, ...clientSessionEnder(deps.homeserver) }, access, {
    address,
    userAgent,
  });
  if (!deletion.ok) throw refusalOf(deletion.reason);
  deps.clients.forget(access.id);
  deps.log.info('client.deleted', 'client registration deleted by the client', {
    client: access.id,
    sessions: deletion.endedSessions,
  });
  return { status: 204, headers: { 'cache-control': 'no-store', pragma: 'no-cache' } };
}

/** Returns the client that the request's registration access token belongs to, and sets it as the requester. */
async function authorize(
  deps: RegistrationDeps,
  context: RequestContext,
): Promise<{ readonly access: RegistrationAccess; readonly client: RegisteredClientRecord }> {
  const id = parseId<'client'>(context.params['client_id'] ?? '');
  if (id === undefined) throw new LatchkeyError('not_found');
  const bearer = parseBearer(context.headers.authorization);
  const access = { id, token: bearer.kind === 'token' ? bearer.token : '' };
  const found = await findRegistration(deps.database, deps.keyRing, access);
  if (!found.ok) deps.log.info('auth.refused', 'client management refused', { code: found.reason, client: id });
  const client = accepted(found);
  context.setRequester({ kind: 'oauth2-client', id });
  context.requireWork();
  return { access, client };
}

function accepted(search: RegistrationSearch): RegisteredClientRecord {
  if (search.ok) return search.client;
  throw refusalOf(search.reason);
}

/** The same response for every problem with the token, so that it does not reveal which clients exist. */
function refusalOf(reason: 'static' | 'refused'): LatchkeyError {
  return reason === 'static'
    ? new LatchkeyError('client_is_static')
    : new LatchkeyError('invalid_token', {
        description: 'Managing a client requires the registration access token issued at its registration.',
      });
}

/**
 * Rejects changes to what the service issued. The body must contain the client ID and may contain the secret, both
 * unchanged.
 */
function refuseOtherIdentity(body: object, client: RegisteredClientRecord): void {
  const members = new MetadataMembers(body);
  for (const name of ISSUED) if (members.get(name) !== undefined) throw invalidMetadata(name, 'must be omitted');
  const id = members.text('client_id');
  if (id !== client.id) throw invalidMetadata('client_id', 'must match the client_id in the URL');
  const secret = members.text('client_secret');
  if (secret === undefined || client.secret?.matches(secret) === true) return;
  throw invalidMetadata('client_secret', 'must be the current secret: clients cannot choose their secret');
}

function refuseOtherSector(metadata: ClientMetadata, former: ClientMetadata): void {
  const sector = sectorLeft(former, metadata);
  if (sector === undefined) return;
  throw invalidMetadata('subject_type', `must remain pairwise, with the sector ${sector}`);
}

const ISSUED = [
  'registration_access_token',
  'registration_client_uri',
  'client_id_issued_at',
  'client_secret_expires_at',
];

function describe(
  { urls }: RegistrationDeps,
  { token }: RegistrationAccess,
  client: RegisteredClientRecord,
): HttpResponse {
  return json(200, registrationResponse(client, token, urls), { pragma: 'no-cache' });
}
