import { createHmac } from 'node:crypto';
import type { SecretKeys } from '#domain/secret-keys/secret-keys.ts';
import type { UserId } from '#platform/base/ids.ts';
import { parseUrl } from '#platform/base/url.ts';

const PAIRWISE_SUBJECT = /^[\w-]{43}$/;

/**
 * Under which `sub` a client knows a person: the identifier of the account, or one that is the same for all clients of
 * a sector and that clients of others cannot connect with theirs.
 * @see OpenID Connect Core 1.0 8
 */
export class Subjects {
  readonly #key: Buffer;

  constructor({ pairwiseSubjects }: Pick<SecretKeys, 'pairwiseSubjects'>) {
    this.#key = pairwiseSubjects;
  }

  /** @param sector host, see `sectorHost`; undefined: the client gets the identifier of the account */
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

/** The address whose host is the sector of a client; null: its subjects are public. */
export function sectorUri(metadata: SectorMembers): string | null {
  if (metadata.subject_type !== 'pairwise') return null;
  return metadata.sector_identifier_uri ?? metadata.redirect_uris[0] ?? '';
}

/**
 * The same for a statement.
 * @param client alias of `oauth2_clients`
 */
export function sectorUriColumn(client: string): string {
  return `case when ${client}.metadata ->> 'subject_type' = 'pairwise' then coalesce(
    ${client}.metadata ->> 'sector_identifier_uri', ${client}.metadata -> 'redirect_uris' ->> 0, ''
  ) end`;
}

/**
 * The sector that such an address stands for; undefined: subjects are public.
 * @throws Error when a client is stored without one: its subjects must not become public by that
 */
export function sectorHost(uri: string | null): string | undefined {
  if (uri === null) return undefined;
  const host = parseUrl(uri)?.hostname ?? '';
  if (host === '') throw new Error('a client with pairwise subjects is stored without a sector');
  return host;
}

/**
 * The sector that a client would leave by new metadata; undefined: it leaves none. Users who were promised a subject that
 * nobody can compare keep it: a client that could leave its sector would learn at the next refresh who they are elsewhere.
 */
export function sectorLeft(former: SectorMembers, metadata: SectorMembers): string | undefined {
  const sector = sectorHost(sectorUri(former));
  return sector === undefined || sectorHost(sectorUri(metadata)) === sector ? undefined : sector;
}
