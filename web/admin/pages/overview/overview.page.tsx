import type { VNode } from 'preact';
import { withParameters } from '../../api/admin-client.ts';
import type { AuditEvent, List, StatisticsOverview } from '../../api/documents.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EventName, EventTarget } from '../../components/event-name.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Time } from '../../components/time.tsx';
import { useTexts } from '../../i18n/translations.ts';
import { Activity } from './activity.tsx';
import { Health } from './health.tsx';

const OVERVIEWS = new Responses<StatisticsOverview>();

/** The start page: what exists, how it develops, and what administrators changed last. */
export function Overview(): VNode {
  const { t } = useTexts();
  const overview = useResource(OVERVIEWS, 'statistics/overview');
  return (
    <>
      <PageTitle title={t('admin.overview.title')} />
      <Loaded resource={overview}>
        {({ data }) => (
          <>
            <Figures data={data} />
            {/* After the figures, so that drawing does not delay them. */}
            <Activity completeUntil={data.complete_until} />
          </>
        )}
      </Loaded>
      <Health />
      <Actions />
    </>
  );
}

function Figures({ data: { users, sessions, clients, jobs, active_users } }: StatisticsOverview): VNode {
  const { t } = useTexts();
  return (
    <dl class="figures" aria-label={t('admin.overview.figures')}>
      <Figure
        name={t('admin.overview.users')}
        value={users.active}
        detail={t('admin.overview.users_detail', { locked: users.locked, deactivated: users.deactivated })}
      />
      <Figure
        name={t('admin.overview.active_users')}
        value={active_users.today}
        unit={t('admin.overview.today')}
        detail={t('admin.overview.active_users_detail', {
          week: active_users.last_7_days,
          month: active_users.last_30_days,
        })}
      />
      <Figure
        name={t('admin.overview.sessions')}
        value={sessions.browser + sessions.oauth2 + sessions.compat + sessions.personal}
        detail={t('admin.overview.sessions_detail', {
          browsers: sessions.browser,
          apps: sessions.oauth2 + sessions.compat,
          scripts: sessions.personal,
        })}
      />
      <Figure
        name={t('admin.overview.applications')}
        value={clients.static + clients.managed + clients.dynamic}
        detail={t('admin.overview.applications_detail', {
          configured: clients.static,
          managed: clients.managed,
          registered: clients.dynamic,
        })}
      />
      <Figure
        name={t('admin.overview.jobs')}
        value={jobs.waiting}
        unit={t('admin.overview.waiting')}
        detail={t('admin.overview.jobs_detail', { failed: jobs.failed })}
        isAlarming={jobs.failed > 0}
      />
    </dl>
  );
}

function Figure({
  name,
  value,
  unit,
  detail,
  isAlarming = false,
}: {
  name: string;
  value: number;
  unit?: string;
  detail: string;
  /** The detail needs attention. */
  isAlarming?: boolean;
}): VNode {
  const { language } = useTexts();
  return (
    <div class="card figure">
      <dt>{name}</dt>
      <dd class="figure-value">
        {value.toLocaleString(language)}
        {unit !== undefined && <span class="figure-unit"> {unit}</span>}
      </dd>
      <dd class={isAlarming ? 'figure-alarm' : 'meta'}>{detail}</dd>
    </div>
  );
}

const ACTIONS = new Responses<List<AuditEvent>>();
const SHOWN_ACTIONS = 8;

function Actions(): VNode {
  const { t } = useTexts();
  const actions = useResource(
    ACTIONS,
    withParameters('audit-events', {
      'filter[kind]': 'admin_action',
      'page[first]': String(SHOWN_ACTIONS),
      count: 'false',
    }),
  );
  return (
    <section class="section">
      <h2>{t('admin.overview.actions')}</h2>
      <Loaded resource={actions}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="meta">{t('admin.overview.no_actions')}</p>
          ) : (
            <DataTable
              label={t('admin.overview.actions')}
              rows={data}
              isLoading={actions.isLoading}
              columns={[
                { title: t('admin.overview.action'), cell: ({ attributes }) => <EventName event={attributes} /> },
                { title: t('admin.overview.target'), cell: ({ attributes }) => <Target action={attributes} /> },
                { title: t('admin.overview.actor'), cell: ({ attributes }) => <Actor action={attributes} /> },
                { title: t('admin.overview.time'), cell: ({ attributes }) => <Time at={attributes.created_at} /> },
              ]}
            />
          )
        }
      </Loaded>
    </section>
  );
}

function Actor({ action: { actor } }: { action: AuditEvent }): VNode {
  const { t } = useTexts();
  if (actor.type === 'operator') return <span>{t('admin.overview.command_line')}</span>;
  const name = actor.username ?? actor.id;
  return name === null ? <span>{t('admin.overview.program')}</span> : <bdi>{name}</bdi>;
}

function Target({ action: { username, target } }: { action: AuditEvent }): VNode {
  if (username !== null) return <bdi>{username}</bdi>;
  return target === null ? <span>–</span> : <EventTarget target={target} />;
}
