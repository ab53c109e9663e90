import type { VNode } from 'preact';
import type { Invitation } from '../../api/documents.ts';
import { type AdminKey, useTexts } from '../../i18n/translations.ts';
import { type InvitationStatus, statusOf } from './invitation.ts';

const TEXTS = {
  valid: 'admin.invitations.valid',
  revoked: 'admin.invitations.revoked',
  used: 'admin.invitations.used_up',
  expired: 'admin.invitations.expired',
} as const satisfies Record<InvitationStatus, AdminKey>;

/** Whether an invitation can be used, in words. */
export function StatusText({ invitation }: { invitation: Invitation }): VNode {
  const { t } = useTexts();
  const status = statusOf(invitation);
  const text = t(TEXTS[status]);
  return status === 'revoked' ? <span class="badge badge-danger">{text}</span> : <span>{text}</span>;
}

/** Number of accounts, and the limit. */
export function Uses({ invitation: { times_used, usage_limit } }: { invitation: Invitation }): VNode {
  const { t } = useTexts();
  const text =
    usage_limit === null
      ? t('admin.invitations.uses_unlimited', { count: times_used })
      : t('admin.invitations.uses_of', { count: times_used, limit: usage_limit });
  return <span>{text}</span>;
}
