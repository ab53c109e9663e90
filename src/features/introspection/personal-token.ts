import type { Core } from '#domain/core.ts';
import {
  introspectPersonalToken,
  type LivePersonalToken,
} from '#domain/personal-sessions/introspect-personal-token.ts';
import { epochSeconds } from '#platform/base/clock.ts';
import type { Database } from '#platform/postgres/database.ts';
import {
  type Caller,
  INACTIVE,
  type Introspection,
  type IntrospectionDeps,
  type PresentedToken,
} from './token-source.ts';

/** Introspects a personal token (oauth 11.2), on behalf of the account that it acts as. */
export async function introspectPersonal(
  deps: IntrospectionDeps,
  database: Database,
  { tokenHash }: PresentedToken,
  { client, maySee, maySeeAll }: Caller,
): Promise<Introspection | 'client-changed'> {
  const now = deps.clock.now();
  const presented = { tokenHash, client, mayBeLocked: false, rights: deps.adminRights, now };
  const live = await introspectPersonalToken(database, presented);
  if (live === 'client-changed') return live;
  if (live === undefined) return INACTIVE;
  const owner = live.owner.kind === 'client' ? live.owner.id : undefined;
  if (!(owner === undefined ? maySeeAll : maySee(owner))) return INACTIVE;
  deps.activity.recordPersonalSession(live.sessionId, now, undefined);
  return { body: activeResponse(live, deps, client?.sector, now), owner };
}

/**
 * @param sector sector of the calling client, which must not learn the user's global name
 * @param now milliseconds since the epoch
 */
function activeResponse(
  token: LivePersonalToken,
  { subjects, config, scopeRules }: Pick<Core, 'config' | 'scopeRules' | 'subjects'>,
  sector: string | undefined,
  now: number,
): object {
  const { owner, user, scope, expiresAt } = token;
  const issuedAt = epochSeconds(token.createdAt);
  return {
    active: true,
    scope: scope.length === 0 ? undefined : scopeRules.normalizeForIntrospection(scope).join(' '),
    client_id: owner.kind === 'client' ? owner.id : undefined,
    username: sector === undefined || scope.includes('profile') ? user.username : undefined,
    sub: subjects.of(user.id, sector),
    token_type: 'Bearer',
    iat: issuedAt,
    nbf: issuedAt,
    exp: expiresAt === undefined ? undefined : epochSeconds(expiresAt),
    // Must be an integer: with a fraction, homeservers answer every request of that account with 503.
    expires_in: expiresAt === undefined ? undefined : epochSeconds(expiresAt - now),
    iss: config.http.issuer,
    device_id: scopeRules.deviceIdOf(scope),
  };
}
