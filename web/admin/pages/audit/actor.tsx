import type { VNode } from 'preact';
import type { AuditEvent } from '../../api/documents.ts';
import { useConfig } from '../../frame/config-context.ts';
import { type AdminKey, useTexts } from '../../i18n/translations.ts';

const TYPES: Readonly<Record<AuditEvent['actor']['type'], AdminKey>> = {
  user: 'admin.audit.actor_user',
  admin: 'admin.audit.actor_admin',
  operator: 'admin.audit.actor_operator',
  system: 'admin.audit.actor_system',
  anonymous: 'admin.audit.actor_anonymous',
};

/** Who caused an event. */
export function Actor({ actor: { type, id, username } }: { actor: AuditEvent['actor'] }): VNode {
  const { t } = useTexts();
  if (id === null) return <span>{t(TYPES[type])}</span>;
  return <Account id={id} username={username} detail={type === 'admin' ? t(TYPES.admin) : undefined} />;
}

/** A link to an account, which may no longer exist. */
export function Account({
  id,
  username,
  detail,
}: {
  id: string;
  username: string | null;
  detail?: string | undefined;
}): VNode {
  const { root } = useConfig();
  if (username === null) return <code>{id}</code>;
  return (
    <>
      <a href={`${root}users/${id}`}>
        <bdi>{username}</bdi>
      </a>
      {detail !== undefined && <span class="meta"> {detail}</span>}
    </>
  );
}
