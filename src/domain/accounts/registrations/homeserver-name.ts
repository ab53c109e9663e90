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
  const requested = await homeserver.isLocalpartAvailable(username, { kind: 'request' });
  if (requested.ok && requested.value) return 'available';
  if (requested.ok) {
    log.info(
      'homeserver.name_taken',
      'username without an account here is taken or reserved on the homeserver; if its users were not imported, import first',
      { username },
    );
    return 'exists';
  }
  if (requested.reason !== 'unavailable')
    log.warn('homeserver.failed', 'homeserver did not check the availability of a username', {
      reason: requested.detail,
    });
  return 'homeserver-unavailable';
}
