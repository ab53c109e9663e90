import type { VNode } from 'preact';
import type { AuditEvent } from '../api/documents.ts';
import { useConfig } from '../frame/config-context.ts';
import { useTexts } from '../i18n/translations.ts';
import { eventText, operationText } from '../pages/audit/kinds.ts';

/** What happened, in words; the name in the API for what this version of the area does not know. */
export function EventName({ event: { kind, operation } }: { event: AuditEvent }): VNode {
  const { t } = useTexts();
  const text = operation === null ? eventText(kind) : operationText(operation);
  return text === undefined ? <code dir="ltr">{operation ?? kind}</code> : <span>{t(text)}</span>;
}

/** Pages of records by the types that events name. */
const PAGES: Readonly<Record<string, string>> = {
  user: 'users',
  'oauth2-client': 'applications',
  group: 'groups',
  'user-registration-token': 'invitations',
  'upstream-oauth-provider': 'providers',
};

/** The record that an event is about: its name with a link, its ID if it was deleted, or its type if it has no name. */
export function EventTarget({ target }: { target: NonNullable<AuditEvent['target']> }): VNode {
  const { root } = useConfig();
  const { type, id, name } = target;
  const page = PAGES[type];
  if (page === undefined) return <span class="meta">{type}</span>;
  if (name === null && type !== 'user-registration-token') return <code>{id}</code>;
  return (
    <a href={`${root}${page}/${id}`}>
      <bdi>{name ?? type}</bdi>
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
