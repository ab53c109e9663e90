import type { LiveCompatToken } from '#domain/compat-sessions/introspect.ts';
import type { Core } from '#domain/core.ts';
import { epochSeconds } from '#platform/base/clock.ts';
import { chatNames } from '#protocol/chat/names.ts';

export interface CompatCaller {
  /** It reads `device_id`, and needs no scope that names the device. */
  readonly knowsDevices: boolean;
}

/** What a scope can name; other devices are known to callers that read `device_id` alone. */
const SCOPE_CHARACTERS = /^[A-Za-z0-9._~!$&'()*+,;=:@/-]+$/;

/**
 * The members of an active answer about the token of a chat client (chat-compat 12).
 * @param sector of the client that asks: it is not to learn the name that the person has everywhere
 * @param now milliseconds since the epoch
 * @returns undefined when the caller could not tell for which device it is
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
    // Such clients are not registered.
    client_id: 'legacy',
    username: sector === undefined ? user.username : undefined,
    sub: subjects.of(user.id, sector),
    token_type: token.kind === 'refresh-token' ? 'refresh_token' : 'Bearer',
    iat: issuedAt,
    nbf: issuedAt,
    exp: expiresAt === undefined ? undefined : epochSeconds(expiresAt),
    // A whole number: with a fraction homeservers answer every request of that person with 503.
    expires_in: expiresAt === undefined ? undefined : epochSeconds(expiresAt - now),
    iss: config.http.issuer,
    device_id: deviceId,
  };
}
