import { parseId } from '#platform/base/ids.ts';
import type { ClientId } from '#vocabulary/ids.ts';

/**
 * The client of the admin area. Its ID is fixed in the code: no configuration, registration or administrator can create
 * a client with it. As a ULID it names a time decades ago, so a generated ID never equals it.
 */
export const ADMIN_AREA_CLIENT_ID = idOf('00ADM1NAREA000000000000000');

/** The only scope that it may request. */
export const ADMIN_AREA_SCOPE = 'urn:mas:admin';

/** Path of its redirect URI, below the public base URL. */
export const ADMIN_AREA_CALLBACK = 'admin/callback';

/** Maximum lifetime of its access tokens. It gets no refresh tokens. */
export const ADMIN_AREA_TOKEN_SECONDS = 300;

function idOf(text: string): ClientId {
  const id = parseId<'client'>(text);
  if (id === undefined) throw new Error(`${text} is not a ULID`);
  return id;
}
