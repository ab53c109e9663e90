/**
 * Which registrations were started in this browser (browser-flows 2.1). A cookie lists them. They can be continued only
 * here, so that a user cannot be signed in to an account prepared by someone else (security S-59).
 */
import { parseId, timeOfId } from '#platform/base/ids.ts';
import type { Cookie } from '#platform/http/cookies.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { RegistrationId } from '#vocabulary/ids.ts';

const REGISTRATIONS_COOKIE: Cookie = { name: 'registrations' };
const MAX_REGISTRATIONS = 8;

/**
 * Adds a registration that was started here. Drops expired ones, and keeps the eight most recent.
 * @param now milliseconds since the epoch
 */
export function bindRegistration(
  context: Pick<RequestContext, 'cookies'>,
  id: RegistrationId,
  ttlSeconds: number,
  now: number,
): void {
  const others = boundRegistrations(context).filter((other) => now - timeOfId(other) < ttlSeconds * 1000);
  context.cookies.set(REGISTRATIONS_COOKIE, [id, ...others].slice(0, MAX_REGISTRATIONS));
}

/** Returns the registration in the URL, if it was started in this browser. */
export function boundRegistration(
  context: Pick<RequestContext, 'cookies'>,
  idText: string | undefined,
): RegistrationId | undefined {
  const id = parseId<'registration'>(idText ?? '');
  return id !== undefined && boundRegistrations(context).includes(id) ? id : undefined;
}

function boundRegistrations(context: Pick<RequestContext, 'cookies'>): RegistrationId[] {
  const value = context.cookies.open(REGISTRATIONS_COOKIE);
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown) => {
    const id = typeof entry === 'string' ? parseId<'registration'>(entry) : undefined;
    return id === undefined ? [] : [id];
  });
}
