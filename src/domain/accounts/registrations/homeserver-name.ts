import type { Homeserver } from '#domain/homeserver/homeserver.ts';
import type { Log } from '#platform/base/log.ts';

export interface NameCheckDeps {
  readonly homeserver: Homeserver;
  readonly log: Log;
}

/**
 * Asks the homeserver whether a name that is free here is available there. It may be taken, or reserved by an
 * application service (browser-flows 5.5). Asks nothing if no homeserver is configured.
 */
export async function checkHomeserverName(
  { homeserver, log }: NameCheckDeps,
  username: string,
): Promise<'available' | 'exists' | 'homeserver-unavailable'> {
  if (!homeserver.isConnected) return 'available';
  const asked = await homeserver.isLocalpartAvailable(username, { kind: 'request' });
  if (asked.ok) return asked.value ? 'available' : 'exists';
  if (asked.reason !== 'unavailable')
    log.warn('homeserver.failed', 'homeserver did not check the availability of a username', { reason: asked.detail });
  return 'homeserver-unavailable';
}
