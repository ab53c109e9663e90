/**
 * Renders a chart of activity per hour: a row for each activity, a bar for each hour, split by outcome. The SVG is
 * self-contained: no scripts, external styles or fonts. The renderer escapes all text. Outcomes differ by pattern as
 * well as color, and the description contains the counts.
 */
import { renderToString } from 'preact-render-to-string';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { ACTIVITIES, OUTCOMES, type Outcome } from './classify.ts';
import type { Output } from './output.ts';

const HOUR_MS = 3_600_000;
const MAX_HOURS = 31 * 24;

const LABEL_WIDTH = 170;
const PLOT_WIDTH = 744;
const TOTALS_WIDTH = 250;
const WIDTH = LABEL_WIDTH + PLOT_WIDTH + TOTALS_WIDTH;
const TOP = 84;
const ROW_HEIGHT = 52;
const BAR_HEIGHT = 36;

/** Groups of outcomes with the same appearance, from bottom to top of a bar. */
const KINDS = [
  { name: 'success', fill: '#1b7837', outcomes: ['success'] },
  {
    name: 'pending or unknown',
    fill: '#9e9e9e',
    outcomes: ['attempted', 'pending', 'redirect', 'incomplete', 'other'],
  },
  { name: 'failure or refused', fill: 'url(#failed)', outcomes: ['failure', 'refused'] },
  { name: 'error', fill: '#000000', outcomes: ['error'] },
] as const satisfies readonly { name: string; fill: string; outcomes: readonly Outcome[] }[];

type Counts = Map<Outcome, number>;

export interface PictureOptions {
  /** Bounds of the selected time, in the format of the log. Default: the bounds of the records. */
  readonly since: string | undefined;
  readonly until: string | undefined;
}

/** @throws ExitError 1 if the records span more than 31 days */
export function pictureOutput(options: PictureOptions): Output {
  const hours = new HourSpan();
  const byActivity = new Map<string, Map<number, Counts>>();
  if (options.since !== undefined && options.until !== undefined) {
    hours.include(hourOf(options.since));
    // `until` is exclusive.
    hours.include(Math.ceil(Date.parse(options.until) / HOUR_MS) - 1);
  }
  return {
    add: ({ time, activity, outcome }) => {
      const hour = hours.include(hourOf(time));
      const name = activity.split(':', 1)[0] ?? '';
      const byHour = byActivity.get(name) ?? new Map<number, Counts>();
      byActivity.set(name, byHour);
      const counts: Counts = byHour.get(hour) ?? new Map();
      byHour.set(hour, counts);
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
      return '';
    },
    end: () =>
      `<?xml version="1.0" encoding="UTF-8"?>\n${renderToString(<Picture hours={hours} rows={rowsOf(byActivity)} />)}\n`,
  };
}

function hourOf(time: string): number {
  return Math.floor(Date.parse(time) / HOUR_MS);
}

class HourSpan {
  first = Number.POSITIVE_INFINITY;
  last = Number.NEGATIVE_INFINITY;

  get length(): number {
    return this.first > this.last ? 0 : this.last - this.first + 1;
  }

  include(hour: number): number {
    this.first = Math.min(this.first, hour);
    this.last = Math.max(this.last, hour);
    if (this.length <= MAX_HOURS) return hour;
    const advice = 'select a shorter period with --since and --until';
    throw new ExitError(ExitCode.failure, `a chart covers at most 31 days; ${advice}`);
  }
}

interface Row {
  readonly activity: string;
  readonly byHour: ReadonlyMap<number, Counts>;
  readonly totals: Counts;
  /** Count of the busiest hour. */
  readonly highest: number;
}

function rowsOf(byActivity: ReadonlyMap<string, ReadonlyMap<number, Counts>>): readonly Row[] {
  return ACTIVITIES.flatMap((activity) => {
    const byHour = byActivity.get(activity);
    if (byHour === undefined) return [];
    const totals: Counts = new Map();
    let highest = 0;
    for (const counts of byHour.values()) {
      for (const [outcome, count] of counts) totals.set(outcome, (totals.get(outcome) ?? 0) + count);
      highest = Math.max(highest, sum(counts, OUTCOMES));
    }
    return [{ activity, byHour, totals, highest }];
  });
}

function sum(counts: Counts, outcomes: readonly Outcome[]): number {
  return outcomes.reduce((total, outcome) => total + (counts.get(outcome) ?? 0), 0);
}

function countsText(counts: Counts): string {
  return OUTCOMES.flatMap((outcome) => {
    const count = counts.get(outcome);
    return count === undefined ? [] : [`${count} ${outcome}`];
  }).join(', ');
}

/** `2026-06-17 10:00` */
function hourText(hour: number): string {
  return new Date(hour * HOUR_MS).toISOString().slice(0, 16).replace('T', ' ');
}

function Picture({ hours, rows }: { readonly hours: HourSpan; readonly rows: readonly Row[] }) {
  const height = TOP + Math.max(rows.length, 1) * ROW_HEIGHT + 16;
  const span = hours.length === 0 ? '' : ` from ${hourText(hours.first)} to ${hourText(hours.last + 1)} UTC`;
  const title = `Activity by hour${span}`;
  const description =
    rows.map(({ activity, totals }) => `${activity}: ${countsText(totals)}.`).join(' ') || 'No activity selected.';
  return (
    <svg
      xmlns="http://www.w3.org/2000/svg"
      viewBox={`0 0 ${WIDTH} ${height}`}
      width={WIDTH}
      height={height}
      role="img"
      aria-labelledby="title description"
      font-family="sans-serif"
      font-size="12"
      fill="#000000"
    >
      <title id="title">{title}</title>
      <desc id="description">{description}</desc>
      <defs>
        <pattern id="failed" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="6" height="6" fill="#ffd9b3" />
          <rect width="3" height="6" fill="#b34700" />
        </pattern>
      </defs>
      <rect width={WIDTH} height={height} fill="#ffffff" />
      <text x="12" y="24" font-size="16">
        {title}
      </text>
      {KINDS.map(({ name, fill }, index) => (
        <g key={name} transform={`translate(${12 + index * 160} 38)`}>
          <rect width="14" height="14" fill={fill} />
          <text x="20" y="11">
            {name}
          </text>
        </g>
      ))}
      <Scale hours={hours} bottom={height - 16} />
      {rows.length === 0 ? (
        <text x={LABEL_WIDTH} y={TOP + 24}>
          {description}
        </text>
      ) : (
        rows.map((row, index) => <Bars key={row.activity} row={row} hours={hours} top={TOP + index * ROW_HEIGHT} />)
      )}
    </svg>
  );
}

/** Vertical lines at full hours, labeled with the time, or with the date at midnight. */
function Scale({ hours, bottom }: { readonly hours: HourSpan; readonly bottom: number }) {
  const { first, length } = hours;
  const step = [1, 3, 6, 12, 24, 72, 168].find((hoursOfStep) => length / hoursOfStep <= 12) ?? 168;
  const marks = Array.from({ length }, (_, index) => first + index).filter((hour) => hour % step === 0);
  return (
    <g stroke-width="1">
      {marks.map((hour) => {
        const x = round(LABEL_WIDTH + ((hour - first) / length) * PLOT_WIDTH);
        const text = hourText(hour);
        return (
          <g key={hour}>
            <line x1={x} y1={TOP - 4} x2={x} y2={bottom} stroke="#d0d0d0" />
            <text x={x + 2} y={TOP - 8} font-size="10">
              {text.endsWith('00:00') ? text.slice(5, 10) : text.slice(11)}
            </text>
          </g>
        );
      })}
    </g>
  );
}

function Bars({ row, hours, top }: { readonly row: Row; readonly hours: HourSpan; readonly top: number }) {
  const width = PLOT_WIDTH / hours.length;
  const base = top + ROW_HEIGHT - 8;
  return (
    <g>
      <text x="12" y={base - 12}>
        {row.activity}
      </text>
      <text x="12" y={base} font-size="10">{`max: ${row.highest} per hour`}</text>
      <line x1={LABEL_WIDTH} y1={base} x2={LABEL_WIDTH + PLOT_WIDTH} y2={base} stroke="#767676" />
      {[...row.byHour].map(([hour, counts]) => (
        <g key={hour}>
          <title>{`${row.activity}, ${hourText(hour)} UTC: ${countsText(counts)}`}</title>
          {stackOf(counts).map(({ fill, below, count }) => {
            const height = Math.max((count / row.highest) * BAR_HEIGHT, 1);
            return (
              <rect
                key={fill}
                x={round(LABEL_WIDTH + (hour - hours.first) * width)}
                y={round(base - (below / row.highest) * BAR_HEIGHT - height)}
                width={round(Math.max(width * 0.9, 0.5))}
                height={round(height)}
                fill={fill}
              />
            );
          })}
        </g>
      ))}
      <text x={LABEL_WIDTH + PLOT_WIDTH + 12} y={base - 12} font-size="10">
        {countsText(row.totals)}
      </text>
    </g>
  );
}

function stackOf(counts: Counts) {
  let below = 0;
  return KINDS.flatMap(({ fill, outcomes }) => {
    const count = sum(counts, outcomes);
    if (count === 0) return [];
    const part = { fill, below, count };
    below += count;
    return [part];
  });
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
