/**
 * Which recoveries were started in this browser (browser-flows 2.1). Their pages show the entered address, so no other
 * browser may see them: an ID is not a secret.
 */
import { parseId, timeOfId } from '#platform/base/ids.ts';
import type { Cookie } from '#platform/http/cookies.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { RecoverySessionId } from '#vocabulary/ids.ts';

const RECOVERIES_COOKIE: Cookie = { name: 'recoveries' };
const MAX_RECOVERIES = 4;

/**
 * Adds a recovery. Drops expired ones, and keeps the four most recent.
 * @param now milliseconds since the epoch
 */
export function bindRecovery(
  context: Pick<RequestContext, 'cookies'>,
  id: RecoverySessionId,
  ttlSeconds: number,
  now: number,
): void {
  const others = boundRecoveries(context).filter((other) => other !== id && now - timeOfId(other) < ttlSeconds * 1000);
  context.cookies.set(RECOVERIES_COOKIE, [id, ...others].slice(0, MAX_RECOVERIES));
}

/** Returns the recovery in the URL, if it was started in this browser. */
export function boundRecovery(
  context: Pick<RequestContext, 'cookies'>,
  idText: string | undefined,
): RecoverySessionId | undefined {
  const id = parseId<'recovery-session'>(idText ?? '');
  return id !== undefined && boundRecoveries(context).includes(id) ? id : undefined;
}

function boundRecoveries(context: Pick<RequestContext, 'cookies'>): RecoverySessionId[] {
  const value = context.cookies.open(RECOVERIES_COOKIE);
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown) => {
    const id = typeof entry === 'string' ? parseId<'recovery-session'>(entry) : undefined;
    return id === undefined ? [] : [id];
  });
}
