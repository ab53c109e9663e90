/** Draws plots. The only module that imports the library, so that no other page loads it. */
import UPlot from 'uplot';
import type { Drawing } from './drawing.ts';

const HEIGHT = 176;
const FONT = '12px system-ui, sans-serif';
/** Steps between the lines of the grid: counts are whole numbers. */
const INCREMENTS = [1, 2, 5].flatMap((factor) => Array.from({ length: 10 }, (_, power) => factor * 10 ** power));

/**
 * Draws into an element, and again when its width or the color scheme changes. The library sets its styles by script,
 * which the content security policy allows.
 * @returns a function that removes the drawing
 */
export function draw(target: HTMLElement, drawing: Drawing): () => void {
  let plot = create(target, drawing);
  const redraw = (): void => {
    plot.destroy();
    plot = create(target, drawing);
  };
  const schemes = ['(prefers-color-scheme: dark)', '(forced-colors: active)'].map((query) => matchMedia(query));
  for (const scheme of schemes) scheme.addEventListener('change', redraw);
  const observer = new ResizeObserver(() => plot.setSize({ width: target.clientWidth, height: HEIGHT }));
  observer.observe(target);
  return () => {
    observer.disconnect();
    for (const scheme of schemes) scheme.removeEventListener('change', redraw);
    plot.destroy();
  };
}

function create(target: HTMLElement, { points, step, language }: Drawing): UPlot {
  const style = getComputedStyle(target);
  const color = (name: string): string => style.getPropertyValue(name).trim();
  const axis = { stroke: color('--plot-text'), font: FONT, ticks: { show: false } };
  const dates = new Intl.DateTimeFormat(
    language,
    step === 'day' ? { day: 'numeric', month: 'short', timeZone: 'UTC' } : { hour: '2-digit', minute: '2-digit' },
  );
  const hasMarks = points.length <= 31;
  return new UPlot(
    {
      width: target.clientWidth,
      height: HEIGHT,
      // Days are those of UTC.
      ...(step === 'day' && { tzDate: (seconds: number) => UPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') }),
      legend: { show: false },
      cursor: { show: false },
      scales: { y: { range: (_plot, _least, most) => [0, Math.max(4, most * 1.1)] } },
      axes: [
        {
          ...axis,
          space: 70,
          grid: { show: false },
          values: (_plot, splits) => splits.map((seconds) => dates.format(seconds * 1000)),
        },
        {
          ...axis,
          size: 56,
          space: 30,
          incrs: INCREMENTS.toSorted((a, b) => a - b),
          grid: { stroke: color('--plot-grid'), width: 1 },
          values: (_plot, splits) => splits.map((value) => value.toLocaleString(language)),
        },
      ],
      series: [
        {},
        {
          stroke: color('--plot-line'),
          width: 2,
          points: { show: hasMarks, size: 6, fill: color('--plot-line'), stroke: color('--plot-line') },
        },
      ],
    },
    [points.map(({ at }) => Date.parse(at) / 1000), points.map(({ value }) => value)],
    target,
  );
}
