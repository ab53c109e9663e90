import type { VNode } from 'preact';
import type { Client } from '../../api/documents.ts';
import { type AdminKey, useTexts } from '../../i18n/translations.ts';

export const KINDS: Readonly<Record<Client['kind'], AdminKey>> = {
  managed: 'admin.apps.kind.managed',
  static: 'admin.apps.kind.static',
  dynamic: 'admin.apps.kind.dynamic',
  builtin: 'admin.apps.kind.builtin',
};

export const ACCESS: Readonly<Record<Client['access'], AdminKey>> = {
  everyone: 'admin.apps.access.everyone',
  groups: 'admin.apps.access.groups',
  nobody: 'admin.apps.access.nobody',
};

/** Whether the application can be used, in words. */
export function ApplicationStatus({ client }: { client: Client }): VNode {
  const { t } = useTexts();
  if (client.disabled_at !== null) return <span class="badge badge-danger">{t('admin.apps.disabled')}</span>;
  return <span>{t('admin.apps.enabled')}</span>;
}

/** Returns what an application is called in sentences. */
export function nameOf({ client_id, client_name }: Client): string {
  return client_name ?? client_id;
}
