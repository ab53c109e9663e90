import { chargeAddress } from '#domain/limits/rate-limits.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { invalidMetadata } from '#protocol/oauth/metadata-members.ts';
import type { RegisteredMetadata } from '#protocol/oauth/registration-request.ts';
import { sectorMembers } from '#protocol/oidc/sector.ts';
import type { MetadataDeps } from './accept-metadata.ts';

/**
 * Fetches the `sector_identifier_uri` of a client's metadata, if present, and requires that the list there contains
 * every redirect URI. The owner of a sector's host confirms which clients belong to it. Each fetch counts against the
 * rate limit of the caller's address, because the caller chooses what is fetched.
 * @throws LatchkeyError `invalid_client_metadata`, which reveals nothing about the host's response (security S-52)
 * @see OpenID Connect Dynamic Client Registration 1.0 section 5
 */
export async function requireSectorMember(
  deps: MetadataDeps,
  { sector_identifier_uri: uri, redirect_uris: redirectUris }: RegisteredMetadata,
  address: string | undefined,
): Promise<void> {
  if (uri === undefined) return;
  const limiter = deps.config.rateLimiting.clientRegistration.perIp;
  const taken = await chargeAddress(deps, { name: 'client-sector', limiter, address });
  if (!taken.ok) {
    throw new LatchkeyError('rate_limited', {
      description: 'Too many sector identifiers were fetched for this address.',
      retryAfterSeconds: taken.retryAfterSeconds,
    });
  }
  const fetched = await deps.outbound.get(uri, { accept: 'application/json' });
  const members = fetched.ok ? sectorMembers(parsed(fetched.body)) : [];
  if (redirectUris.every((redirectUri) => members.includes(redirectUri))) return;
  throw invalidMetadata('sector_identifier_uri', 'must be the URL of a JSON list that contains all redirect_uris');
}

/** Returns undefined for what is not JSON. */
function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
