import { addressKey } from '#platform/base/address-key.ts';
import { type AuthorizationGrantId, type ClientId, newId, toUuid, type UserId } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import type { AuthorizationRequest } from '#protocol/oauth/authorization-parameters.ts';
import { claimsToJson } from '#protocol/oidc/claims-parameter.ts';
import { insertGrant } from './writes.ts';

/** Grants of one client address, or of one person, that no code was exchanged for (security 3.10, S-179). */
const MAX_UNUSED = 100;
/** Callers without a known address share one bound. */
const UNKNOWN_ADDRESS = '0.0.0.0';

export interface NewGrant {
  readonly clientId: ClientId;
  readonly request: AuthorizationRequest;
  readonly expectedUserId: UserId | undefined;
  /** Of the installed languages the one that the client asked for. */
  readonly locale: string | undefined;
  readonly address: string | undefined;
  /** Who is signed in; undefined: nobody, or unknown. */
  readonly userId: UserId | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly lifetimeSeconds: number;
}

/** Stores a pending grant; undefined when this address or this person has too many. */
export async function createAuthorizationGrant(
  database: Queryable,
  grant: NewGrant,
): Promise<AuthorizationGrantId | undefined> {
  const { request, now } = grant;
  const id = newId<'authorization-grant'>(now);
  const key = addressKey(grant.address);
  const row = await database.first(insertGrant, {
    id: toUuid(id),
    clientId: toUuid(grant.clientId),
    redirectUri: request.target.redirectUri,
    redirectUriSent: request.isRedirectUriSent,
    scope: request.scope,
    responseMode: request.target.responseMode,
    state: request.target.state ?? null,
    nonce: request.nonce ?? null,
    codeChallenge: request.codeChallenge ?? null,
    prompt: request.prompts,
    maxAge: request.maxAge ?? null,
    loginHint: request.loginHint ?? null,
    locale: grant.locale ?? null,
    acrValues: request.acr.values,
    isAcrEssential: request.acr.isEssential,
    claims: claimsToJson(request.claims),
    expectedUserId: grant.expectedUserId === undefined ? null : toUuid(grant.expectedUserId),
    addressKey: key === 'unknown' ? UNKNOWN_ADDRESS : key,
    now: new Date(now),
    expiresAt: new Date(now + grant.lifetimeSeconds * 1000),
    limit: MAX_UNUSED,
    userId: grant.userId === undefined ? null : toUuid(grant.userId),
  });
  return row === undefined ? undefined : id;
}
