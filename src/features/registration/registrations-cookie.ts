import { parseId, type RegistrationId, timeOfId } from '#platform/base/ids.ts';
import type { RequestContext } from '#platform/http/request-context.ts';

/**
 * Which registrations were begun in this browser (browser-flows 2.1): only here may they go on, so that nobody is
 * signed in to an account that somebody else prepared (security S-59).
 */
const MAX_REGISTRATIONS = 8;

/**
 * Adds a registration that was begun here; those whose time is over are dropped, and the oldest beyond eight.
 * @param now milliseconds since the epoch
 */
export function bindRegistration(
  context: Pick<RequestContext, 'cookies'>,
  id: RegistrationId,
  ttlSeconds: number,
  now: number,
): void {
  const others = boundRegistrations(context).filter((other) => now - timeOfId(other) < ttlSeconds * 1000);
  context.cookies.set('registrations', [id, ...others].slice(0, MAX_REGISTRATIONS));
}

/** The registration that an address names, if it was begun in this browser. */
export function boundRegistration(
  context: Pick<RequestContext, 'cookies'>,
  idText: string | undefined,
): RegistrationId | undefined {
  const id = parseId<'registration'>(idText ?? '');
  return id !== undefined && boundRegistrations(context).includes(id) ? id : undefined;
}

function boundRegistrations(context: Pick<RequestContext, 'cookies'>): RegistrationId[] {
  const value = context.cookies.open('registrations');
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown) => {
    const id = typeof entry === 'string' ? parseId<'registration'>(entry) : undefined;
    return id === undefined ? [] : [id];
  });
}
