import type { LiveCompatToken } from '#domain/compat-sessions/introspect.ts';
import type { Core } from '#domain/core.ts';
import { epochSeconds } from '#platform/base/clock.ts';
import { chatNames } from '#protocol/chat/names.ts';

export interface CompatCaller {
  /** The caller reads `device_id`, and needs no scope that names the device. */
  readonly knowsDevices: boolean;
}

/** Characters that a scope may contain. Other device IDs are reported only to callers that read `device_id`. */
const SCOPE_CHARACTERS = /^[A-Za-z0-9._~!$&'()*+,;=:@/-]+$/;

/**
 * Builds an active response for a chat client's token (chat-compat 12).
 * @param sector sector of the calling client, which must not learn the user's global name
 * @param now milliseconds since the epoch
 * @returns undefined if the caller could not tell which device the token belongs to
 */
export function compatIntrospectionResponse(
  token: LiveCompatToken,
  { subjects, config }: Pick<Core, 'config' | 'subjects'>,
  sector: string | undefined,
  { knowsDevices }: CompatCaller,
  now: number,
): object | undefined {
  const { user, deviceId, expiresAt } = token;
  const { stableScopePrefix, unstableScopePrefix } = chatNames(config.protocolName);
  const scope = [`${stableScopePrefix}api:*`, `${unstableScopePrefix}api:*`];
  if (!knowsDevices && deviceId !== undefined) {
    if (!SCOPE_CHARACTERS.test(deviceId)) return undefined;
    scope.push(`${stableScopePrefix}device:${deviceId}`, `${unstableScopePrefix}device:${deviceId}`);
  }
  if (token.isAdmin) scope.push('urn:synapse:admin:*');
  const issuedAt = epochSeconds(token.createdAt);
  return {
    active: true,
    scope: scope.join(' '),
    // Chat clients are not registered.
    client_id: 'legacy',
    username: sector === undefined ? user.username : undefined,
    sub: subjects.of(user.id, sector),
    token_type: token.kind === 'refresh-token' ? 'refresh_token' : 'Bearer',
    iat: issuedAt,
    nbf: issuedAt,
    exp: expiresAt === undefined ? undefined : epochSeconds(expiresAt),
    // Must be an integer: with a fraction, homeservers answer every request of that user with 503.
    expires_in: expiresAt === undefined ? undefined : epochSeconds(expiresAt - now),
    iss: config.http.issuer,
    device_id: deviceId,
  };
}
