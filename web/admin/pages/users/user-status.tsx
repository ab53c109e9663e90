import type { VNode } from 'preact';
import type { User } from '../../api/documents.ts';
import { useTexts } from '../../i18n/translations.ts';

/** Whether the account can be used, in words. */
export function UserStatus({ user }: { user: User }): VNode {
  const { t } = useTexts();
  if (user.deactivated_at !== null) return <span class="badge badge-danger">{t('admin.users.deactivated')}</span>;
  if (user.locked_at !== null) return <span class="badge badge-danger">{t('admin.users.locked')}</span>;
  return <span>{t('admin.users.active')}</span>;
}
