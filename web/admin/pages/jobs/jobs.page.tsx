import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { Button } from '../../../components/button.tsx';
import { withParameters } from '../../api/admin-client.ts';
import { useClient } from '../../api/context.ts';
import type { Job, List, Resource } from '../../api/documents.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { Confirm } from '../../components/confirm.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { FilterForm } from '../../components/filter-form.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Pager, pageParameters } from '../../components/pager.tsx';
import { Time } from '../../components/time.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { type AdminKey, useTexts } from '../../i18n/translations.ts';

const PAGE_SIZE = 25;
const JOBS = new Responses<List<Job>>();

const STATUSES: Readonly<Record<Job['status'], AdminKey>> = {
  available: 'admin.jobs.available',
  scheduled: 'admin.jobs.scheduled',
  running: 'admin.jobs.running',
  failed: 'admin.jobs.failed',
  dead: 'admin.jobs.dead',
};

/** Background jobs that are not completed. */
export function Jobs(): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const { query, route } = useLocation();
  const { queue, status } = query;
  const filters = { queue, status };
  const list = useResource(
    JOBS,
    withParameters('jobs', {
      ...{ 'filter[queue]': queue, 'filter[status]': status, count: 'false' },
      ...pageParameters(query, PAGE_SIZE),
    }),
    true,
  );
  return (
    <>
      <PageTitle title={t('admin.jobs.title')} />
      <FilterForm
        key={JSON.stringify(filters)}
        fields={[
          { name: 'queue', label: t('admin.jobs.queue'), hint: t('admin.jobs.queue_hint') },
          {
            name: 'status',
            label: t('admin.jobs.status'),
            options: Object.entries(STATUSES).map(([value, key]) => ({ value, text: t(key) })),
          },
        ]}
        values={filters}
        onChange={(changed) => route(withParameters(`${root}jobs`, changed))}
      />
      <Loaded resource={list}>
        {(shown) =>
          shown.data.length === 0 ? (
            <p>{t('admin.jobs.none')}</p>
          ) : (
            <>
              <JobTable jobs={shown.data} isLoading={list.isLoading} reload={list.reload} />
              <Pager list={shown} filters={filters} label={t('admin.jobs.pages')} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

function JobTable({
  jobs,
  isLoading,
  reload,
}: {
  jobs: readonly Resource<Job>[];
  isLoading: boolean;
  reload: () => void;
}): VNode {
  const { t } = useTexts();
  const [asking, setAsking] = useState<{ readonly job: Resource<Job>; readonly action: 'retry' | 'cancel' }>();
  return (
    <>
      <DataTable
        label={t('admin.jobs.title')}
        rows={jobs}
        isLoading={isLoading}
        columns={[
          {
            title: t('admin.jobs.queue'),
            cell: ({ id, attributes: { queue, payload } }) => (
              <details>
                <summary>
                  <code>{queue}</code>
                </summary>
                <p class="meta">{t('admin.jobs.id', { id })}</p>
                <pre>{JSON.stringify(payload, null, 2)}</pre>
              </details>
            ),
          },
          {
            title: t('admin.jobs.status'),
            cell: ({ attributes: { status, attempt, failed_reason: reason } }) => (
              <span>
                {status === 'dead' || status === 'failed' ? (
                  <span class="badge badge-danger">{t(STATUSES[status])}</span>
                ) : (
                  t(STATUSES[status])
                )}
                {attempt > 0 && <span class="meta"> {t('admin.jobs.attempts', { count: attempt })}</span>}
                {reason !== null && <bdi class="reason">{reason}</bdi>}
              </span>
            ),
          },
          { title: t('admin.jobs.created'), cell: ({ attributes }) => <Time at={attributes.created_at} /> },
          {
            title: t('admin.jobs.due'),
            cell: ({ attributes: { scheduled_at: at } }) => (at === null ? '–' : <Time at={at} />),
          },
          {
            title: t('admin.jobs.actions'),
            cell: (job) => (
              <span class="actions">
                {job.attributes.status === 'dead' && (
                  <Button
                    kind="quiet"
                    label={t('admin.jobs.retry_label', { queue: job.attributes.queue })}
                    onClick={() => setAsking({ job, action: 'retry' })}
                  >
                    {t('admin.jobs.retry')}
                  </Button>
                )}
                {job.attributes.status !== 'running' && (
                  <Button
                    kind="quiet"
                    label={t('admin.jobs.cancel_label', { queue: job.attributes.queue })}
                    onClick={() => setAsking({ job, action: 'cancel' })}
                  >
                    {t('admin.jobs.cancel')}
                  </Button>
                )}
              </span>
            ),
          },
        ]}
      />
      {asking !== undefined && <Ask {...asking} reload={reload} onClose={() => setAsking(undefined)} />}
    </>
  );
}

function Ask({
  job: { id, attributes },
  action,
  reload,
  onClose,
}: {
  job: Resource<Job>;
  action: 'retry' | 'cancel';
  reload: () => void;
  onClose: () => void;
}): VNode {
  const { t } = useTexts();
  const client = useClient();
  const { queue } = attributes;
  const isRetry = action === 'retry';
  return (
    <Confirm
      title={t(isRetry ? 'admin.jobs.retry_title' : 'admin.jobs.cancel_title', { queue })}
      action={t(isRetry ? 'admin.jobs.retry' : 'admin.jobs.cancel')}
      kind={isRetry ? 'primary' : 'danger'}
      done={t(isRetry ? 'admin.jobs.retried' : 'admin.jobs.canceled', { queue })}
      onConfirm={() => (isRetry ? client.post(`jobs/${id}/retry`) : client.delete(`jobs/${id}`))}
      onDone={reload}
      onClose={onClose}
    >
      {t(isRetry ? 'admin.jobs.retry_text' : 'admin.jobs.cancel_text')}
    </Confirm>
  );
}
