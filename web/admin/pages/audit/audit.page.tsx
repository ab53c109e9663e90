import type { VNode } from 'preact';
import { useLocation } from 'preact-iso/router';
import { type Parameters, withParameters } from '../../api/admin-client.ts';
import { useClient } from '../../api/context.ts';
import type { AuditEvent, List, Resource } from '../../api/documents.ts';
import { findUserId } from '../../api/find-user.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { DataTable } from '../../components/data-table.tsx';
import { EventName, EventTarget } from '../../components/event-name.tsx';
import { type FilterField, FilterForm, type ResolvedFilters } from '../../components/filter-form.tsx';
import { Loaded, useProblemText } from '../../components/loaded.tsx';
import { OlderPager } from '../../components/older-pager.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Time } from '../../components/time.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { useTexts } from '../../i18n/translations.ts';
import { Account, Actor } from './actor.tsx';
import { ExportButton } from './export-button.tsx';
import { KINDS, TEXTS } from './kinds.ts';

const PAGE_SIZE = 50;
const DATE_EXAMPLE = '2026-06-17';
const EVENTS = new Responses<List<AuditEvent>>();
const NAMES = ['user', 'actor', 'kind', 'client', 'address', 'since', 'until', 'outcome'] as const;

/** Security events of all accounts, and changes by administrators. */
export function Audit(): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const { query, route } = useLocation();
  const filters = Object.fromEntries(NAMES.map((name) => [name, query[name]]));
  const wanted = parametersOf(filters);
  const list = useResource(
    EVENTS,
    withParameters('audit-events', { ...wanted, 'page[first]': String(PAGE_SIZE), 'page[after]': query['before'] }),
    true,
  );
  const resolve = useNames();
  return (
    <>
      <PageTitle title={t('admin.audit.title')}>
        <ExportButton format="csv" filters={wanted} />
        <ExportButton format="ndjson" filters={wanted} />
      </PageTitle>
      <FilterForm
        key={JSON.stringify(filters)}
        fields={useFields()}
        values={filters}
        resolve={resolve}
        onChange={(changed) => route(withParameters(`${root}audit`, changed))}
      />
      <Loaded resource={list}>
        {({ data, links }) => {
          const before = cursorOf(links.next);
          const isShort = before !== undefined && data.length < PAGE_SIZE;
          return (
            <>
              {data.length === 0 ? (
                <p>{t(before === undefined ? 'admin.audit.none' : 'admin.audit.none_yet')}</p>
              ) : (
                <EventTable events={data} isLoading={list.isLoading} />
              )}
              {isShort && data.length > 0 && <p>{t('admin.audit.short')}</p>}
              <OlderPager
                before={before}
                filters={filters}
                label={t('admin.audit.pages')}
                title={t(isShort ? 'admin.audit.continue' : 'admin.pager.older')}
              />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

function useFields(): readonly FilterField[] {
  const { t, language } = useTexts();
  const kinds = KINDS.map((value) => ({ value, text: t(TEXTS[value]) })).toSorted((one, other) =>
    one.text.localeCompare(other.text, language),
  );
  return [
    { name: 'user', label: t('admin.audit.user'), hint: t('admin.audit.user_hint') },
    { name: 'actor', label: t('admin.audit.actor'), hint: t('admin.audit.actor_hint') },
    { name: 'kind', label: t('admin.audit.kind'), options: kinds },
    {
      name: 'outcome',
      label: t('admin.audit.outcome'),
      options: [
        { value: 'ok', text: t('admin.audit.outcome_ok') },
        { value: 'failed', text: t('admin.audit.outcome_failed') },
      ],
    },
    { name: 'client', label: t('admin.audit.client'), hint: t('admin.audit.client_hint') },
    { name: 'address', label: t('admin.audit.address'), hint: '192.0.2.0/24' },
    { name: 'since', label: t('admin.audit.since'), hint: DATE_EXAMPLE },
    { name: 'until', label: t('admin.audit.until'), hint: DATE_EXAMPLE },
  ];
}

/** Returns a function that replaces the usernames of filters with IDs, and checks dates. */
function useNames() {
  const { t } = useTexts();
  const client = useClient();
  const textOf = useProblemText();
  return async (typed: Parameters): Promise<ResolvedFilters> => {
    const values: Record<string, string | undefined> = { ...typed };
    for (const name of ['user', 'actor']) {
      const text = typed[name] ?? '';
      if (text === '' || (name === 'actor' && text === 'operator')) continue;
      const found = await findUserId(client, text);
      if (!found.ok) {
        const { problem } = found;
        const isUnknown = problem.kind === 'refused' && problem.code === 'not_found';
        return { ok: false, name, problem: isUnknown ? t('admin.filter.no_user') : textOf(problem) };
      }
      values[name] = found.data;
    }
    for (const name of ['since', 'until']) {
      const text = typed[name] ?? '';
      if (text !== '' && startOfDay(text, 0) === undefined) {
        return { ok: false, name, problem: t('admin.filter.no_date', { example: DATE_EXAMPLE }) };
      }
    }
    return { ok: true, values };
  };
}

/** Days are those of the user's time zone; the last one is included. */
function parametersOf({ since, until, ...others }: Parameters): Parameters {
  return {
    ...Object.fromEntries(Object.entries(others).map(([name, value]) => [`filter[${name}]`, value])),
    'filter[since]': startOfDay(since, 0) ?? since,
    'filter[until]': startOfDay(until, 1) ?? until,
  };
}

/** @returns undefined if it is no date */
function startOfDay(day: string | undefined, daysLater: number): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day ?? '') ?? [];
  if (year === undefined || Number.isNaN(Date.parse(day ?? ''))) return undefined;
  return new Date(Number(year), Number(month) - 1, Number(date) + daysLater).toISOString();
}

/** Where the next page begins: the event that the request examined last, which may not match the filters. */
function cursorOf(next: string | undefined): string | undefined {
  return new URLSearchParams(next?.replace(/^[^?]*/, '')).get('page[after]') ?? undefined;
}

function EventTable({ events, isLoading }: { events: readonly Resource<AuditEvent>[]; isLoading: boolean }): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  return (
    <DataTable
      label={t('admin.audit.title')}
      rows={events}
      isLoading={isLoading}
      columns={[
        {
          title: t('admin.audit.time'),
          cell: ({ id, attributes }) => (
            <a href={`${root}audit/${id}`}>
              <Time at={attributes.created_at} />
            </a>
          ),
        },
        {
          title: t('admin.audit.kind'),
          cell: ({ attributes }) => (
            <span>
              <EventName event={attributes} />
              {attributes.outcome === 'failed' && (
                <span class="badge badge-danger">{t('admin.audit.outcome_failed')}</span>
              )}
            </span>
          ),
        },
        {
          title: t('admin.audit.user'),
          cell: ({ attributes: { user_id: id, username, target } }) =>
            id === null ? (
              target === null ? (
                '–'
              ) : (
                <EventTarget target={target} />
              )
            ) : (
              <span>
                <Account id={id} username={username} />
              </span>
            ),
        },
        {
          title: t('admin.audit.actor'),
          cell: ({ attributes }) => (
            <span>
              <Actor actor={attributes.actor} />
            </span>
          ),
        },
        { title: t('admin.audit.address'), cell: ({ attributes }) => <bdi>{attributes.address ?? '–'}</bdi> },
      ]}
    />
  );
}
