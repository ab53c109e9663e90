import type { VNode } from 'preact';
import type { AuditEvent } from '../api/documents.ts';
import { useConfig } from '../frame/config-context.ts';
import { useTexts } from '../i18n/translations.ts';
import { eventText } from '../pages/audit/kinds.ts';

/** What happened, in words. Changes by administrators show the operation of the API, which the documentation explains. */
export function EventName({ event: { kind, operation } }: { event: AuditEvent }): VNode {
  const { t } = useTexts();
  const text = eventText(kind);
  if (operation !== null) return <code dir="ltr">{operation}</code>;
  return text === undefined ? <code dir="ltr">{kind}</code> : <span>{t(text)}</span>;
}

/** Pages of records by the types that events name. */
const PAGES: Readonly<Record<string, string>> = {
  user: 'users',
  'oauth2-client': 'applications',
  group: 'groups',
  'user-registration-token': 'invitations',
};

/** The record that an event is about: its name with a link, or its ID if it has none or was deleted. */
export function EventTarget({ target }: { target: NonNullable<AuditEvent['target']> }): VNode {
  const { root } = useConfig();
  const { type, id, name } = target;
  const page = PAGES[type];
  if (name === null || page === undefined) {
    return (
      <span>
        <span class="meta">{type}</span> <code>{id}</code>
      </span>
    );
  }
  return (
    <a href={`${root}${page}/${id}`}>
      <bdi>{name}</bdi>
    </a>
  );
}

/** The application that an event is about: its name, or its ID. */
export function EventClient({ event }: { event: Pick<AuditEvent, 'client_id' | 'client_name'> }): VNode | null {
  const { root } = useConfig();
  const { client_id: id, client_name: name } = event;
  if (id === null) return null;
  if (name === null) return <code>{id}</code>;
  return (
    <a href={`${root}applications/${id}`}>
      <bdi>{name}</bdi>
    </a>
  );
}
