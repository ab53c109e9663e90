import { newAuditEventId } from '#domain/audit/audit-event.ts';
import { type AuthorizationGrantId, type BrowserSessionId, toUuid, type UserId } from '#platform/base/ids.ts';
import { randomBase64Url } from '#platform/base/random.ts';
import { sha256 } from '#platform/base/secret.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { fulfilGrant } from './statements/fulfil-grant.ts';

export interface Fulfilment {
  readonly id: AuthorizationGrantId;
  readonly userId: UserId;
  readonly browserSessionId: BrowserSessionId;
  /** Of the client record that the request was judged by. */
  readonly clientVersion: number;
  /** Language in which the person read the pages, for a grant whose client asked for none. */
  readonly locale: string;
  /** The person pressed the button, rather than that the page was skipped. */
  readonly isDecided: boolean;
  /** To be remembered, in canonical spelling; see `rememberableScopes`. */
  readonly rememberedScopes: readonly string[];
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Makes the authorization code of a pending grant: 43 base64url characters, of which only the SHA-256 is kept.
 * Undefined when the grant, its client, the session or the account changed meanwhile; nothing is written then. One
 * statement, whose condition lets exactly one of several callers through.
 */
export async function fulfilAuthorizationGrant(
  database: Queryable,
  fulfilment: Fulfilment,
): Promise<string | undefined> {
  const { now } = fulfilment;
  const code = randomBase64Url();
  const row = await database.first(fulfilGrant, {
    id: toUuid(fulfilment.id),
    userId: toUuid(fulfilment.userId),
    browserSessionId: toUuid(fulfilment.browserSessionId),
    clientVersion: fulfilment.clientVersion,
    codeHash: sha256(code),
    locale: fulfilment.locale,
    rememberedScopes: fulfilment.rememberedScopes,
    now: new Date(now),
    auditEventId: newAuditEventId(now),
    ip: fulfilment.address ?? null,
    userAgent: fulfilment.userAgent ?? null,
    isDecided: fulfilment.isDecided,
  });
  return row === undefined ? undefined : code;
}
