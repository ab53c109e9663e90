/**
 * Sign-out at a provider (OpenID Connect Back-Channel Logout 1.0, browser-flows 8.8): validates the logout token and
 * ends sessions here.
 */

import type { Homeserver } from '#domain/homeserver/homeserver.ts';
import type { PublishedKeys } from '#domain/keys/published-keys.ts';
import { consumeOnce } from '#domain/limits/replayed-values.ts';
import { endBrowserSessions } from '#domain/oauth-sessions/end-browser-sessions.ts';
import { browserSessionIsLive } from '#domain/records/liveness/browser-sessions.ts';
import { authorizationIsUnused } from '#domain/records/liveness/upstream-authorizations.ts';
import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Database, Transaction } from '#platform/postgres/database.ts';
import { type Statement, statement } from '#platform/postgres/statement.ts';
import { type ProviderLogout, readLogoutToken } from '#protocol/oidc/logout-token-checks.ts';
import type { UpstreamMetadata } from './provider-metadata.ts';
import type { UpstreamProvider } from './upstream-providers.ts';
import { verifySignature } from './verify-signature.ts';

const MAX_TOKEN_CHARACTERS = 16 * 1024;

export type LogoutTokenOutcome =
  | { readonly ok: true; readonly logout: ProviderLogout }
  /**
   * `problem` is a description. `unavailable`: the keys of the provider are not available, so the result is unknown.
   */
  | { readonly ok: false; readonly reason: 'invalid' | 'unavailable'; readonly problem: string };

/**
 * Returns whether the provider has just issued the token for this server. Writes nothing; may make requests to the
 * provider.
 */
export async function checkLogoutToken(
  deps: {
    readonly upstream: { readonly keys: PublishedKeys; readonly metadata: UpstreamMetadata };
    readonly clock: Clock;
  },
  provider: UpstreamProvider,
  text: string,
): Promise<LogoutTokenOutcome> {
  const metadata = await deps.upstream.metadata.find(provider);
  if (metadata === undefined) return { ok: false, reason: 'unavailable', problem: 'provider metadata unavailable' };
  const { idTokenAlg: algorithm, clientId } = provider;
  const signed = { text, algorithm, maxCharacters: MAX_TOKEN_CHARACTERS };
  const verified = await verifySignature(deps, provider, metadata, signed);
  if (!verified.ok) {
    const { problem, areKeysUnavailable } = verified;
    return { ok: false, reason: areKeysUnavailable ? 'unavailable' : 'invalid', problem };
  }
  const reading = readLogoutToken(verified.jws, { issuer: metadata.issuer, clientId, now: deps.clock.now() });
  return reading.ok ? reading : { ok: false, reason: 'invalid', problem: reading.problem };
}

export interface ProviderLogoutDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly homeserver: Pick<Homeserver, 'isConnected'>;
}

export interface LogoutEffect {
  /** The token was already used, and nothing was done. */
  readonly isReplay: boolean;
  readonly browserSessions: number;
  /** Sessions of applications and chat clients. */
  readonly applicationSessions: number;
}

/**
 * Ends what the provider's setting says, along with unfinished sign-ins, once per token. The same transaction consumes
 * the token, so that the provider can retry after a failure.
 */
export async function signOutByProvider(
  { database, clock, homeserver }: ProviderLogoutDeps,
  provider: UpstreamProvider,
  logout: ProviderLogout,
): Promise<LogoutEffect> {
  const now = clock.now();
  return await database.transaction(
    async (transaction) => {
      const { tokenId: value, acceptedUntil: expiresAt } = logout;
      const isFirst = await consumeOnce(
        transaction,
        { kind: 'upstream-logout', owner: provider.id, value, expiresAt },
        now,
      );
      const isReplay = !isFirst;
      if (isReplay || provider.onBackchannelLogout === 'do_nothing') {
        return { isReplay, browserSessions: 0, applicationSessions: 0 };
      }
      const sessionIds = await sessionsOf(transaction, provider, logout, now);
      if (sessionIds.length === 0) return { isReplay, browserSessions: 0, applicationSessions: 0 };
      const isWithApplications = provider.onBackchannelLogout === 'logout_all';
      return {
        isReplay,
        ...(await endBrowserSessions(transaction, {
          sessionIds,
          isWithApplications,
          reason: 'upstream_logout',
          now,
          syncsDevices: homeserver.isConnected,
        })),
      };
    },
    { isRepeatable: true },
  );
}

/**
 * The first statement waits for sign-ins that are being completed and ends unfinished ones. The second one then sees
 * the new sessions.
 */
async function sessionsOf(
  transaction: Transaction,
  provider: UpstreamProvider,
  { subject, sid }: ProviderLogout,
  now: number,
): Promise<readonly string[]> {
  const providerId = toUuid(provider.id);
  const rows = await (sid === undefined
    ? found(BY_SUBJECT, { providerId, subject: subject ?? '' })
    : found(BY_SID, { providerId, sid, subject: subject ?? null }));
  return rows.map(({ id }) => id);

  async function found<Parameters extends object>(
    { stopWaiting, findSessions }: LogoutStatements<Parameters>,
    parameters: Parameters,
  ) {
    await transaction.execute(stopWaiting, { ...parameters, now: new Date(now) });
    return await transaction.rows(findSessions, parameters);
  }
}

interface LogoutStatements<Parameters extends object> {
  readonly stopWaiting: Statement<never, Parameters & { readonly now: Date }>;
  readonly findSessions: Statement<{ id: string }, Parameters>;
}

/** @param which condition on `a` */
function statementsFor<Parameters extends object>(name: string, which: string): LogoutStatements<Parameters> {
  return {
    stopWaiting: statement(
      `stop-upstream-authorizations-by-${name}`,
      `update upstream_authorizations a set consumed_at = :now::timestamptz
        where ${which} and a.completed_at is not null and ${authorizationIsUnused('a')}`,
    ),
    findSessions: statement(
      `sessions-of-upstream-authorizations-by-${name}`,
      `select distinct s.id
         from upstream_authorizations a join user_sessions s on s.id = a.user_session_id
        where ${which} and ${browserSessionIsLive('s')}`,
    ),
  };
}

const BY_SUBJECT = statementsFor<{ readonly providerId: string; readonly subject: string }>(
  'subject',
  'a.provider_id = :providerId::uuid and a.sub = :subject::text',
);
const BY_SID = statementsFor<{
  readonly providerId: string;
  readonly sid: string;
  readonly subject: string | null;
}>(
  'sid',
  'a.provider_id = :providerId::uuid and a.sid = :sid::text and (:subject::text is null or a.sub = :subject::text)',
);
