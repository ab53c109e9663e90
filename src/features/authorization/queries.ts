import { type GrantRow, grantColumns } from '#domain/authorizations/authorization-grant.ts';
import { type ViewerRow, viewerColumns, viewerJoin } from '#domain/browser-sessions/viewer.ts';
import { statement } from '#platform/postgres/statement.ts';

interface ConsentColumn {
  /** What the viewer has allowed the client before. */
  readonly consent_scope: readonly string[] | null;
}

/** Who asks, and what they have allowed this client before: everything that a new request goes by, one look-up each. */
export const readViewerAndConsent = statement<
  ViewerRow & ConsentColumn,
  { readonly browserSessionId: string; readonly clientId: string }
>(
  'authorization.viewer-and-consent',
  `select ${viewerColumns}, consent.scope as consent_scope
     from (select 1) as one
     ${viewerJoin(':browserSessionId::uuid')}
     left join oauth2_consents consent on consent.user_id = viewer_user.id and consent.client_id = :clientId::uuid`,
);

export type ContinuationRow = ViewerRow & ConsentColumn & (GrantRow | { readonly grant_id: null });

/** The same for a request that was stored. There is always a row: who asked for an unknown grant is known, too. */
export const readContinuation = statement<
  ContinuationRow,
  { readonly grantId: string | null; readonly browserSessionId: string | null }
>(
  'authorization.continuation',
  `select ${grantColumns('pending')}, ${viewerColumns}, consent.scope as consent_scope
     from (select 1) as one
     left join oauth2_authorization_grants pending on pending.id = :grantId::uuid
     ${viewerJoin(':browserSessionId::uuid')}
     left join oauth2_consents consent on consent.user_id = viewer_user.id and consent.client_id = pending.client_id`,
);
