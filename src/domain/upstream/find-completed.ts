import type { PresentedInvitation } from '#domain/accounts/registrations/invitation.ts';
import { type ViewerRow, viewerColumns, viewerJoin } from '#domain/browser-sessions/viewer.ts';
import type { SessionCookie } from '#domain/records/browser-session.ts';
import { authorizationIsUnconsumed, completedAfter } from '#domain/records/liveness/upstream-authorizations.ts';
import { toUser, type User, type UserRow, userColumns } from '#domain/records/user.ts';
import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UpstreamAuthorizationId, UpstreamLinkId } from '#vocabulary/ids.ts';
import { openAuthorizationSecrets, openResponse, type UpstreamResponse } from './sealed-columns.ts';

/** A sign-in that waits for the user's last step. */
export interface CompletedAuthorization {
  readonly id: UpstreamAuthorizationId;
  readonly linkId: UpstreamLinkId;
  /** Account of the link; undefined if it is not linked yet. */
  readonly owner: User | undefined;
  /** Name of the account at the provider; undefined if unknown. */
  readonly accountName: string | undefined;
  readonly answer: UpstreamResponse;
  /** Whether the user was asked to reauthenticate. */
  readonly isReauthentication: boolean;
  /** What the user came with, for a new account. */
  readonly invitation: PresentedInvitation | undefined;
}

type OwnerRow = { readonly [Name in keyof UserRow]: UserRow[Name] | null };

type Row = ViewerRow &
  OwnerRow & {
    readonly human_account_name: string | null;
    readonly secrets_sealed: Buffer | null;
    readonly answer_sealed: Buffer | null;
  };

/** Finds the sign-in that a browser remembers for a link, and the account of the link, in one query. */
export async function findCompleted(
  { database, clock, keyRing }: { readonly database: Queryable; readonly clock: Clock; readonly keyRing: KeyRing },
  wanted: {
    readonly id: UpstreamAuthorizationId;
    readonly linkId: UpstreamLinkId;
    readonly cookie: SessionCookie | undefined;
  },
): Promise<{ readonly completed: CompletedAuthorization | undefined; readonly viewerRow: ViewerRow | undefined }> {
  const row = await database.first(findRow, {
    id: toUuid(wanted.id),
    linkId: toUuid(wanted.linkId),
    completedAfter: completedAfter(clock.now()),
    sessionId: wanted.cookie === undefined ? null : toUuid(wanted.cookie.id),
  });
  if (row === undefined || row.secrets_sealed === null || row.answer_sealed === null) {
    return { completed: undefined, viewerRow: row };
  }
  const { id, linkId } = wanted;
  const secrets = openAuthorizationSecrets(keyRing, id, row.secrets_sealed);
  const { isReauthentication, registrationToken: token, invitationProof: proof } = secrets;
  const invitation = token === undefined ? undefined : { token, proof };
  const response = openResponse(keyRing, id, row.answer_sealed);
  const accountName = row.human_account_name ?? undefined;
  const completed = { id, linkId, owner: ownerOf(row), accountName, answer: response, isReauthentication, invitation };
  return { completed, viewerRow: row };
}

function ownerOf(row: OwnerRow): User | undefined {
  const { user_id, username, display_name, locale, can_request_admin, is_locked, is_deactivated } = row;
  if (user_id === null || username === null) return undefined;
  return toUser({
    user_id,
    username,
    display_name,
    locale,
    can_request_admin: can_request_admin === true,
    is_locked: is_locked === true,
    is_deactivated: is_deactivated === true,
  });
}

/** Uses primary keys only. */
const findRow = statement<
  Row,
  {
    readonly id: string;
    readonly linkId: string;
    readonly completedAfter: Date;
    readonly sessionId: string | null;
  }
>(
  'find-completed-upstream-authorization',
  `select a.secrets_sealed, a.answer_sealed, l.human_account_name, ${userColumns('owner')}, ${viewerColumns}
     from (select 1) as one
     left join upstream_authorizations a
       on a.id = :id::uuid and a.link_id = :linkId::uuid and ${authorizationIsUnconsumed('a', ':completedAfter::timestamptz')}
     left join upstream_links l on l.id = a.link_id
     left join users owner on owner.id = l.user_id
     ${viewerJoin(':sessionId::uuid')}`,
);
