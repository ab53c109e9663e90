import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { usePageQuery } from '../../api/page-query.ts';
import { type PageInfo, pagingOf } from '../../api/paging.ts';
import { nameOfClient } from '../../components/client-mark.tsx';
import { DeviceIcon, EmptyState } from '../../components/empty-state.tsx';
import { PageLinks, useFirstPageInstead } from '../../components/page-links.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Loaded } from '../../components/states.tsx';
import { usePathTo } from '../../frame/config-context.ts';
import { TabsPage } from '../../frame/tabs-page.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { browserTitle } from '../sessions/session-text.ts';
import { SecurityEventList } from './activity.generated.ts';
import { byDay, dayText } from './days.ts';
import {
  type EventGroup,
  GROUPS,
  groupNamed,
  groupOf,
  iconOf,
  isAboutApplication,
  kindsOf,
  type SecurityEvent,
  textOf,
} from './event-kinds.ts';

const PAGE_SIZE = 20;

/** Security events of the account, newest first, by day. */
export function Activity(): VNode {
  const { t } = useTranslations();
  const { url } = useLocation();
  const { group, variables } = useMemo(() => {
    const query = new URL(url, location.origin).searchParams;
    const found = groupNamed(query.get('kind'));
    const kinds = found === undefined ? {} : { kind: kindsOf(found) };
    return { group: found, variables: { ...pagingOf(query, PAGE_SIZE), ...kinds } };
  }, [url]);
  const query = usePageQuery(SecurityEventList, variables);
  return (
    <TabsPage tab="activity">
      <PageTitle title={t('account.activity.title')} />
      <p>{t('account.activity.text')}</p>
      <NotYou />
      <Loaded query={query}>
        {({ viewer }) =>
          viewer.__typename === 'User' && (
            <Events events={viewer.securityEvents.nodes} info={viewer.securityEvents.pageInfo} group={group} />
          )
        }
      </Loaded>
    </TabsPage>
  );
}

/** What to do about an event that someone else caused. */
function NotYou(): VNode {
  const { t } = useTranslations();
  const pathTo = usePathTo();
  return (
    <section class="section row">
      <p>{t('account.secure.not_you')}</p>
      <a class="button button-secondary" href={pathTo('secure')}>
        {t('account.secure.title')}
      </a>
    </section>
  );
}

function Filter({ chosen }: { chosen: EventGroup | undefined }): VNode {
  const { t } = useTranslations();
  const pathTo = usePathTo();
  return (
    <nav class="filters" aria-label={t('account.activity.filter')}>
      <a href={pathTo('activity')} aria-current={chosen === undefined ? 'true' : undefined}>
        {t('account.activity.all')}
      </a>
      {GROUPS.map((group) => (
        <a key={group} href={pathTo(`activity?kind=${group}`)} aria-current={group === chosen ? 'true' : undefined}>
          {t(`account.activity.group.${group}`)}
        </a>
      ))}
    </nav>
  );
}

const ALL = {};

function Events({
  events,
  info,
  group,
}: {
  events: readonly SecurityEvent[];
  info: PageInfo;
  group: EventGroup | undefined;
}): VNode {
  const { t, language } = useTranslations();
  const filter = useMemo(() => (group === undefined ? ALL : { kind: group }), [group]);
  // Old events are deleted.
  const isPastEnd = useFirstPageInstead(events.length, filter);
  const hasOthers = info.hasNextPage || info.hasPreviousPage;
  const hasSeveralGroups = new Set(events.map(({ kind }) => groupOf(kind))).size > 1;
  return (
    <>
      {(group !== undefined || hasOthers || hasSeveralGroups) && <Filter chosen={group} />}
      {events.length === 0 && !isPastEnd && (
        <section class="section" role="status">
          <EmptyState icon="shield">
            <p>{t(group === undefined ? 'account.activity.none' : 'account.activity.none_filtered')}</p>
          </EmptyState>
        </section>
      )}
      {byDay(events).map(({ at, events: ofDay }) => (
        <section key={at.toDateString()} class="section">
          <h2 class="day">{dayText(language, at, new Date())}</h2>
          <ul class="sessions">
            {ofDay.map((event) => (
              <Event key={event.id} event={event} />
            ))}
          </ul>
        </section>
      ))}
      <PageLinks info={info} size={PAGE_SIZE} filter={filter} />
    </>
  );
}

function Event({ event }: { event: SecurityEvent }): VNode {
  const { t, language } = useTranslations();
  const at = new Date(event.createdAt);
  const exact = at.toLocaleString(language, { dateStyle: 'long', timeStyle: 'short' });
  return (
    <li class="session">
      <DeviceIcon icon={iconOf(event)} />
      <div class="session-facts">
        <p>
          <span class="event-title">{t(textOf(event.kind), { count: event.count })}</span>
          {event.outcome === 'FAILURE' && <span class="badge badge-danger">{t('account.activity.failed')}</span>}
        </p>
        <About event={event} />
        <p class="meta facts">
          <time dateTime={event.createdAt} title={exact}>
            {at.toLocaleTimeString(language, { timeStyle: 'short' })}
          </time>
          {event.actor === 'ADMIN' && <span>{t('account.activity.by_admin')}</span>}
          {event.actor === 'SYSTEM' && <span>{t('account.activity.by_system')}</span>}
          <Device event={event} />
          {event.ip !== null && <code>{event.ip}</code>}
        </p>
      </div>
    </li>
  );
}

/** The client and the address, service or session of an event. */
function About({ event: { kind, client, subject } }: { event: SecurityEvent }): VNode | null {
  const pathTo = usePathTo();
  const application = isAboutApplication(kind) ? client : null;
  if (application === null && subject === null) return null;
  return (
    <p class="facts">
      {application !== null && (
        <a href={pathTo(`clients/${application.id}`)}>
          <bdi>{nameOfClient(application)}</bdi>
        </a>
      )}
      {subject !== null && <bdi>{subject}</bdi>}
    </p>
  );
}

/** The browser or device of an event, linked to its session while that is known. */
function Device({ event: { userAgent, session } }: { event: SecurityEvent }): VNode | null {
  const translations = useTranslations();
  const { t, direction } = translations;
  const pathTo = usePathTo();
  if (userAgent === null && session === null) return null;
  const device = userAgent === null ? t('account.session.title') : browserTitle(translations, { userAgent });
  return (
    <span>
      {session === null ? (
        <bdi dir={direction}>{device}</bdi>
      ) : (
        <a href={pathTo(`sessions/${session.id}`)}>
          <bdi dir={direction}>{device}</bdi>
        </a>
      )}
      {session?.isCurrent === true && <span class="badge">{t('account.session.this_browser')}</span>}
    </span>
  );
}
