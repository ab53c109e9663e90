/**
 * Shared parts of statements that link an identity at a provider to the account with the same name (browser-flows 8.6).
 */

import { INSERT_AUDIT_EVENT, newAuditEventId } from '#domain/audit/audit-event.ts';
import { accountIsUsable } from '#domain/records/liveness/accounts.ts';
import type { PendingLink } from '#domain/second-factors/pending-link.ts';
import { noticeCtes } from '#domain/security-notices/security-notice.ts';
import { toUuid } from '#platform/base/ids.ts';
import { queuedBy } from '#platform/jobs/queue.ts';
import type { Transaction } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { BrowserSessionId, UserId } from '#vocabulary/ids.ts';
import { MAX_LINKS } from './link-account.ts';
import { type EnabledMethods, hasCredential } from './login-methods.ts';

export interface LinkByName {
  readonly user: UserId;
  readonly link: PendingLink;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** The user's language. */
  readonly language: string;
  /** Whether users get email notices. */
  readonly sendsNotices: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Parameters of `MEASURED_LINKS` and `linkByNameCtes`. */
export interface LinkByNameParameters {
  readonly userId: string;
  readonly linkId: string;
  readonly providerId: string;
  readonly onConflict: string;
  readonly maxLinks: number;
  readonly linkEventId: string;
  readonly isTold: boolean;
  readonly detail: string;
  readonly language: string;
  readonly queuedBy: string | null;
  readonly userAgent: string | null;
  readonly ip: string | null;
  readonly now: Date;
}

export function linkByNameParameters(wanted: LinkByName): LinkByNameParameters {
  const { user, link, address, userAgent, language, sendsNotices, now } = wanted;
  return {
    userId: toUuid(user),
    linkId: toUuid(link.linkId),
    providerId: toUuid(link.providerId),
    onConflict: link.onConflict,
    maxLinks: MAX_LINKS,
    linkEventId: newAuditEventId(now),
    isTold: sendsNotices,
    detail: JSON.stringify({ provider: link.providerName }),
    language,
    queuedBy: queuedBy(),
    userAgent: userAgent ?? null,
    ip: address ?? null,
    now: new Date(now),
  };
}

/** The CTE `measured`: reasons not to add another link to the account. */
export const MEASURED_LINKS = `measured as (
    select count(*) filter (where :onConflict::text <> 'replace' or o.provider_id <> :providerId::uuid)
             >= :maxLinks::integer as is_full,
           :onConflict::text = 'set' and count(*) filter (where o.provider_id = :providerId::uuid) > 0 as has_link
      from upstream_links o where o.user_id = :userId::uuid
  )`;

/** A condition after `measured`, for a link with the alias `l`: the account may get it. */
export const LINK_IS_FREE =
  'l.id = :linkId::uuid and l.user_id is null and not measured.is_full and not measured.has_link';

/**
 * Returns the CTE `linked` and those with its consequences, to follow `measured`.
 * @param session name of a CTE with the `id` of the new session; nothing is linked if it has no row
 */
export function linkByNameCtes(session: string): string {
  return `linked as (
    update upstream_links l set user_id = :userId::uuid, last_used_at = :now::timestamptz
      from ${session} cross join measured
     where ${LINK_IS_FREE}
    returning l.id, ${session}.id as session_id
  ), removed as (
    delete from upstream_links o using linked
     where :onConflict::text = 'replace' and o.user_id = :userId::uuid and o.provider_id = :providerId::uuid
       and o.id <> linked.id
  ), link_audited as (
    ${INSERT_AUDIT_EVENT}
    select :linkEventId::uuid, 'upstream_linked', :userId::uuid, null::uuid, linked.session_id, :ip::inet,
           :userAgent::text, jsonb_build_object('link', :linkId::uuid, 'by', 'name') || :detail::jsonb, :now::timestamptz
      from linked
  ), ${noticeCtes({
    told: 'select :userId::uuid as user_id from linked where :isTold::boolean',
    notice: 'upstream_linked',
    eventId: ':linkEventId::uuid',
    detail: ':detail::jsonb',
    language: ':language::text',
    now: ':now::timestamptz',
  })}`;
}

const lockUser = statement<{ has_credential: boolean }, EnabledMethods & { readonly userId: string }>(
  'lock-user-for-upstream-link',
  `select ${hasCredential('u.id')} as has_credential
     from users u where u.id = :userId::uuid and ${accountIsUsable('u')} and not u.can_request_admin for no key update of u`,
);

/**
 * Locks the account in a separate statement, so that the next one counts what concurrent requests have committed.
 * @returns undefined if the account is not usable or is an administrator's, which is never linked by name
 */
export async function lockForLink(
  transaction: Transaction,
  user: UserId,
  enabled: EnabledMethods,
): Promise<{ readonly hasCredential: boolean } | undefined> {
  const row = await transaction.first(lockUser, { ...enabled, userId: toUuid(user) });
  return row && { hasCredential: row.has_credential };
}

// Of two pending sign-ins with the same identity, the second finds it already linked.
const linkPending = statement<{ is_linked: boolean }, LinkByNameParameters & { readonly sessionId: string }>(
  'link-upstream-after-factor',
  `with session as (
    select :sessionId::uuid as id
  ), ${MEASURED_LINKS}, ${linkByNameCtes('session')}
  select exists (select from linked)
      or exists (select from upstream_links l where l.id = :linkId::uuid and l.user_id = :userId::uuid) as is_linked`,
);

/**
 * Adds the link of a pending login, in the transaction that completed it. Call `lockForLink` first.
 * @returns false if the account may not get the link any more: roll the transaction back
 */
export async function linkAfterFactor(
  transaction: Transaction,
  wanted: LinkByName,
  session: BrowserSessionId,
): Promise<boolean> {
  const parameters = { ...linkByNameParameters(wanted), sessionId: toUuid(session) };
  return (await transaction.first(linkPending, parameters))?.is_linked === true;
}
