import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { withParameters } from '../../api/admin-client.ts';
import type { StatisticsSeries } from '../../api/documents.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { Loaded } from '../../components/loaded.tsx';
import { Time } from '../../components/time.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { type AdminKey, useTexts } from '../../i18n/translations.ts';
import type { PlottedPoint, Step } from './drawing.ts';
import { Plot } from './plot.tsx';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The first one is shown without the URL parameter `range`. */
const RANGES = [
  { name: 'week', title: 'admin.overview.range_week', step: 'day', length: 6 * DAY_MS },
  { name: 'day', title: 'admin.overview.range_day', step: 'hour', length: 23 * HOUR_MS },
  { name: 'quarter', title: 'admin.overview.range_quarter', step: 'day', length: 89 * DAY_MS },
] as const satisfies readonly { name: string; title: AdminKey; step: Step; length: number }[];
type Range = (typeof RANGES)[number];

const METRICS = [
  { metric: 'sign_ins', title: 'admin.overview.sign_ins' },
  { metric: 'sign_in_failures', title: 'admin.overview.failures' },
  { metric: 'registrations', title: 'admin.overview.registrations' },
  { metric: 'active_users', title: 'admin.overview.active_users' },
] as const satisfies readonly { metric: string; title: AdminKey }[];

/** Plots of what happened, over a period that the URL names. */
export function Activity({ completeUntil }: { completeUntil: string | null }): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const { query } = useLocation();
  const range = RANGES.find(({ name }) => name === query['range']) ?? RANGES[0];
  return (
    <section class="section">
      <div class="page-heading">
        <h2>{t('admin.overview.activity')}</h2>
        <nav class="tabs" aria-label={t('admin.overview.range')}>
          {RANGES.toSorted((a, b) => a.length - b.length).map((one) => (
            <a
              key={one.name}
              href={withParameters(root, { range: one === RANGES[0] ? undefined : one.name })}
              aria-current={one === range ? 'true' : undefined}
            >
              {t(one.title)}
            </a>
          ))}
        </nav>
      </div>
      <div class="plots">
        {METRICS.map(({ metric, title }) => (
          <Series key={metric} metric={metric} title={t(title)} range={range} />
        ))}
      </div>
      <p class="meta">
        {completeUntil === null ? (
          t('admin.overview.no_series')
        ) : (
          <>
            {t('admin.overview.complete_until')} <Time at={completeUntil} />
          </>
        )}
      </p>
    </section>
  );
}

const SERIES = new Responses<StatisticsSeries>();

function Series({ metric, title, range }: { metric: string; title: string; range: Range }): VNode {
  const { t, language } = useTexts();
  // An account that is used in several hours of a day counts once, so there is no series by hour.
  const isByDay = metric === 'active_users' && range.step === 'hour';
  const { step, length } = isByDay ? RANGES[0] : range;
  // The start does not move while the page is shown: each move would be another request.
  const since = useMemo(() => new Date(Date.now() - length).toISOString(), [length]);
  const series = useResource(SERIES, withParameters('statistics/series', { metric, step, since }));
  return (
    <section class="card plot-card">
      <h3>
        {title} <span class="meta">{t(step === 'hour' ? 'admin.overview.per_hour' : 'admin.overview.per_day')}</span>
      </h3>
      <Loaded resource={series}>
        {({ data: { points } }) => (
          <>
            <p class="figure-value">
              {summaryOf(metric, points).toLocaleString(language)}
              <span class="figure-unit">
                {' '}
                {t(metric === 'active_users' ? 'admin.overview.at_most' : 'admin.overview.in_total')}
              </span>
            </p>
            <Plot label={t('admin.overview.plot', { name: title })} points={points} step={step} />
            <PointTable title={title} points={points} step={step} />
          </>
        )}
      </Loaded>
    </section>
  );
}

/** Accounts that are active on several days are the same, so only the highest number of them means something. */
function summaryOf(metric: string, points: readonly PlottedPoint[]): number {
  const values = points.map(({ value }) => value ?? 0);
  return metric === 'active_users' ? Math.max(0, ...values) : values.reduce((sum, value) => sum + value, 0);
}

/** The numbers of a plot, the newest first. */
function PointTable({ title, points, step }: { title: string; points: readonly PlottedPoint[]; step: Step }): VNode {
  const { t, language } = useTexts();
  return (
    <details class="plot-table">
      <summary>{t('admin.overview.table')}</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">{t('admin.overview.time')}</th>
            <th scope="col">{title}</th>
          </tr>
        </thead>
        <tbody>
          {points.toReversed().map(({ at, value }) => (
            <tr key={at}>
              <th scope="row">
                <time dateTime={at}>{timeOf(at, step, language)}</time>
              </th>
              <td>{(value ?? 0).toLocaleString(language)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

/** Days are those of UTC; hours are shown in the time zone of the browser. */
function timeOf(at: string, step: Step, language: string): string {
  return step === 'day'
    ? new Date(at).toLocaleDateString(language, { dateStyle: 'medium', timeZone: 'UTC' })
    : new Date(at).toLocaleString(language, { dateStyle: 'short', timeStyle: 'short' });
}
