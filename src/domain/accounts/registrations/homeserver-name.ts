import type { Homeserver } from '#domain/homeserver/homeserver.ts';
import type { Log } from '#platform/base/log.ts';

export interface NameQuestionDeps {
  readonly homeserver: Homeserver;
  readonly log: Log;
}

/**
 * Asks the homeserver for a name that is free here: it may be taken there, or reserved by an application service
 * (browser-flows 5.5). Nothing is asked where there is no homeserver.
 */
export async function askHomeserver(
  { homeserver, log }: NameQuestionDeps,
  username: string,
): Promise<'available' | 'exists' | 'homeserver-unavailable'> {
  if (!homeserver.isConnected) return 'available';
  const asked = await homeserver.isLocalpartAvailable(username, { kind: 'request' });
  if (asked.ok) return asked.value ? 'available' : 'exists';
  if (asked.reason !== 'unavailable')
    log.warn('homeserver.failed', 'the homeserver says nothing of a name', { reason: asked.detail });
  return 'homeserver-unavailable';
}
