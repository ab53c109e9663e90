import type { ComponentChildren, VNode } from 'preact';
import { useRoute } from 'preact-iso/router';
import { FactList, FactRow } from '../../../components/facts.tsx';
import { withParameters } from '../../api/admin-client.ts';
import type { AuditEvent, Single } from '../../api/documents.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { EventClient, EventTarget } from '../../components/event-name.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Time } from '../../components/time.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { useTexts } from '../../i18n/translations.ts';
import { Account, Actor } from './actor.tsx';
import { eventText } from './kinds.ts';

const EVENTS = new Responses<Single<AuditEvent>>();

/** One event, with all that is stored about it. */
export function AuditEventView(): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const { params } = useRoute();
  const event = useResource(EVENTS, `audit-events/${encodeURIComponent(params['id'] ?? '')}`);
  return (
    <>
      <p>
        <a href={`${root}audit`}>{t('admin.audit.back')}</a>
      </p>
      <PageTitle title={t('admin.audit.event')} />
      <Loaded resource={event}>{({ data: { attributes } }) => <Facts event={attributes} />}</Loaded>
    </>
  );
}

function Facts({ event }: { event: AuditEvent }): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const { user_id: user, client_id: client, target } = event;
  const text = eventText(event.kind);
  const rows: readonly (readonly [name: string, value: ComponentChildren])[] = [
    [t('admin.audit.time'), <Time at={event.created_at} />],
    [t('admin.audit.kind'), text === undefined ? <code>{event.kind}</code> : t(text)],
    [t('admin.audit.outcome'), t(event.outcome === 'ok' ? 'admin.audit.outcome_ok' : 'admin.audit.outcome_failed')],
    [t('admin.audit.user'), user && <Account id={user} username={event.username} />],
    [t('admin.audit.actor'), <Actor actor={event.actor} />],
    [t('admin.audit.operation'), event.operation && <code>{event.operation}</code>],
    [
      t('admin.audit.target'),
      target && (
        <>
          <EventTarget target={target} /> <code>{target.id}</code>
        </>
      ),
    ],
    [t('admin.audit.changed'), event.changed.length > 0 && <code>{event.changed.join(', ')}</code>],
    [
      t('admin.audit.client'),
      client && (
        <>
          <EventClient event={event} />{' '}
          <a class="meta" href={withParameters(`${root}audit`, { client })}>
            {t('admin.audit.same_client')}
          </a>
        </>
      ),
    ],
    [t('admin.audit.session'), event.session_id && <code>{event.session_id}</code>],
    [
      t('admin.audit.address'),
      event.address && <a href={withParameters(`${root}audit`, { address: event.address })}>{event.address}</a>,
    ],
    [t('admin.audit.user_agent'), event.user_agent && <bdi>{event.user_agent}</bdi>],
    [t('admin.audit.request'), event.request_id && <code>{event.request_id}</code>],
    ...Object.entries(event.detail).map(([name, value]) => [name, <code>{JSON.stringify(value)}</code>] as const),
  ];
  return (
    <section class="card section">
      <FactList>
        {rows.map(
          ([name, value]) =>
            value !== null &&
            value !== false && (
              <FactRow key={name} name={name}>
                {value}
              </FactRow>
            ),
        )}
      </FactList>
    </section>
  );
}
