import type { VNode } from 'preact';
import { useLocation } from 'preact-iso/router';
import { withParameters } from '../../api/admin-client.ts';
import type { AuditEvent, List } from '../../api/documents.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EventClient, EventName } from '../../components/event-name.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Pager } from '../../components/pager.tsx';
import { Time } from '../../components/time.tsx';
import { useTexts } from '../../i18n/translations.ts';

const PAGE_SIZE = 25;

const EVENTS = new Responses<List<AuditEvent>>();

/** The audit events of an account, newest first. */
export function UserActivity({ id }: { id: string }): VNode {
  const { t } = useTexts();
  const { query } = useLocation();
  const parameters = { 'filter[user]': id, 'page[first]': String(PAGE_SIZE), 'page[after]': query['after'] };
  const events = useResource(EVENTS, withParameters('audit-events', parameters));
  return (
    <Loaded resource={events}>
      {(shown) =>
        shown.data.length === 0 ? (
          <p class="meta">{t('admin.user.no_activity')}</p>
        ) : (
          <>
            <DataTable
              label={t('admin.user.activity')}
              rows={shown.data}
              isLoading={events.isLoading}
              columns={[
                {
                  title: t('admin.user.event'),
                  cell: ({ attributes }) => (
                    <span>
                      <EventName event={attributes} />{' '}
                      {attributes.client_id !== null && <EventClient event={attributes} />}
                    </span>
                  ),
                },
                { title: t('admin.user.time'), cell: ({ attributes }) => <Time at={attributes.created_at} /> },
                {
                  title: t('admin.user.actor'),
                  cell: ({ attributes: { actor } }) => <bdi>{actor?.username ?? actor?.type ?? '–'}</bdi>,
                },
                { title: t('admin.user.address'), cell: ({ attributes }) => <bdi>{attributes.address ?? '–'}</bdi> },
              ]}
            />
            <Pager list={shown} filters={{ tab: 'activity' }} label={t('admin.user.activity_pages')} />
          </>
        )
      }
    </Loaded>
  );
}
