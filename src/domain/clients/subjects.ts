import { createHmac } from 'node:crypto';
import type { SecretKeys } from '#domain/keys/secret-keys.ts';
import { parseUrl } from '#platform/base/url.ts';
import type { UserId } from '#vocabulary/ids.ts';

const PAIRWISE_SUBJECT = /^[\w-]{43}$/;

/**
 * Determines the `sub` of a user for a client: the account ID, or a pairwise subject. All clients of a sector get the
 * same pairwise subject; clients of different sectors cannot correlate theirs.
 * @see OpenID Connect Core 1.0 8
 */
export class Subjects {
  readonly #key: Buffer;

  constructor({ pairwiseSubjects }: Pick<SecretKeys, 'pairwiseSubjects'>) {
    this.#key = pairwiseSubjects;
  }

  /** @param sector host, see `sectorHost`; undefined: return the account ID */
  of(userId: UserId, sector: string | undefined): string {
    if (sector === undefined) return userId;
    return createHmac('sha256', this.#key).update(`${sector}\0${userId}`).digest('base64url');
  }
}

export function isPairwiseSubject(text: string): boolean {
  return PAIRWISE_SUBJECT.test(text);
}

interface SectorMembers {
  readonly redirect_uris: readonly string[];
  readonly subject_type?: 'public' | 'pairwise';
  readonly sector_identifier_uri?: string;
}

/** Returns the URL whose host is the sector of a client; null: its subjects are public. */
export function sectorUri(metadata: SectorMembers): string | null {
  if (metadata.subject_type !== 'pairwise') return null;
  return metadata.sector_identifier_uri ?? metadata.redirect_uris[0] ?? '';
}

/**
 * Returns `sectorUri` as an SQL expression.
 * @param client alias of `oauth2_clients`
 */
export function sectorUriColumn(client: string): string {
  return `case when ${client}.metadata ->> 'subject_type' = 'pairwise' then coalesce(
    ${client}.metadata ->> 'sector_identifier_uri', ${client}.metadata -> 'redirect_uris' ->> 0, ''
  ) end`;
}

/**
 * Returns the sector of a `sectorUri`; undefined: subjects are public.
 * @throws Error if the stored client has no sector, because its subjects must not become public
 */
export function sectorHost(uri: string | null): string | undefined {
  if (uri === null) return undefined;
  const host = parseUrl(uri)?.hostname ?? '';
  if (host === '') throw new Error('stored client with pairwise subjects has no sector');
  return host;
}

/**
 * Returns the sector that a client would leave with new metadata; undefined: it stays. Clients may not leave a sector:
 * with the next refresh, they would get a subject by which they could recognize their users elsewhere.
 */
export function sectorLeft(former: SectorMembers, metadata: SectorMembers): string | undefined {
  const sector = sectorHost(sectorUri(former));
  return sector === undefined || sectorHost(sectorUri(metadata)) === sector ? undefined : sector;
}
