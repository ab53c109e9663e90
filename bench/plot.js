/** Draws the results of all whole runs: `bench/results/plot.svg`. `scripts/generate-reference.js` writes the file. */
import { HASHING, RACES } from './settings.js';
import { CONCURRENCY, cpuUnit, processorOf, raceOf, short } from './stored.js';

/** Series of the first part, in the order of the legend. */
const PEERS = [
  { name: 'oidc-provider', label: 'node-oidc-provider, in memory', look: 'a' },
  { name: 'bare', label: 'bare server', look: 'b' },
  { name: 'argon2id', label: 'bare argon2id', look: 'c' },
  { name: 'itself', label: 'a second Latchkey (noise)', look: 'n' },
];
/** Kinds of workloads of the second part. */
const KINDS = [
  { kind: 'reads', label: 'reads', look: 'a' },
  { kind: 'writes', label: 'writes', look: 'b' },
  { kind: 'signs', label: 'writes, signs an ID token', look: 'c' },
];
const READING = new Set(['introspect', 'chat-introspect', 'userinfo', 'login-page']);
const SIGNING = new Set(['refresh-openid', 'code-exchange']);

const WIDTH = 880;
const MARGIN = 24;
/** Space for the numbers of the vertical axis. */
const AXIS = 36;
const COLUMNS = 3;
const LINE = 16;
/** Distance of the numbers of the runs from a chart. */
const NUMBERS = 19;
/** Distances of the legend and of the charts from the heading of a section. */
const HEAD = { legend: 44, height: 66 };
const PANEL = { width: 200, height: 110, gap: 20 };
const COST = { width: 640, height: 270 };

/** Colors work in both schemes, and the shapes of the points distinguish the series without them. */
const STYLE = `
text { font: 12px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #1f2328; }
.heading { font-size: 15px; font-weight: 600; }
.name { font-weight: 600; }
.soft { fill: #57606a; }
.paper { fill: #ffffff; }
.grid { stroke: #d8dee4; }
.one { stroke: #57606a; }
.line { fill: none; stroke-width: 1.8; }
.goal { fill: none; stroke-width: 1.2; stroke-dasharray: 5 4; }
.lead { fill: none; stroke-width: 0.7; }
.a { fill: #0969da; stroke: #0969da; }
.b { fill: #bc4c00; stroke: #bc4c00; }
.c { fill: #1a7f37; stroke: #1a7f37; }
.n { fill: #8c959f; stroke: #8c959f; }
.line, .goal, .lead { fill: none; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .soft { fill: #9198a1; }
  .paper { fill: #0d1117; }
  .grid { stroke: #30363d; }
  .one { stroke: #9198a1; }
  .a { fill: #58a6ff; stroke: #58a6ff; }
  .b { fill: #f0883e; stroke: #f0883e; }
  .c { fill: #3fb950; stroke: #3fb950; }
  .n { fill: #6e7681; stroke: #6e7681; }
  .line, .goal, .lead { fill: none; }
}
`;

/**
 * @param {object[]} results whole runs, oldest first
 * @returns {string} SVG
 */
export function plotOf(results) {
  const rates = rateSection(results, MARGIN + 6);
  const costs = costSection(results, rates.bottom + 20);
  const key = runKey(results, costs.bottom + 50);
  const height = key.bottom + MARGIN;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title description">`,
    '<title id="title">Benchmark results over time</title>',
    `<desc id="description">Rates of Latchkey divided by the rates of its peers, and CPU time per request divided by the time of a bare server, at ${CONCURRENCY} concurrent requests, for ${results.length} runs.</desc>`,
    `<style>${STYLE}</style>`,
    `<rect class="paper" width="${WIDTH}" height="${height}"/>`,
    ...rates.parts,
    ...costs.parts,
    ...key.parts,
    '</svg>\n',
  ].join('\n');
}

/** One panel for each workload with a peer. */
function rateSection(results, top) {
  const panels = RACES.filter(({ peers }) => Object.keys(peers).length > 0)
    .map(({ workload }) => ({ workload, series: rateSeries(results, workload) }))
    .filter(({ series }) => series.length > 0);
  const ticks = powersOfTwo(
    panels.flatMap(({ series }) => series.flatMap(({ values, goal = 1 }) => [...values, goal])),
  );
  const pitch = { x: (WIDTH - 2 * MARGIN) / COLUMNS, y: PANEL.height + LINE + PANEL.gap * 2 };
  const parts = [
    ...head(top, 'Rate of Latchkey, divided by the rate of another', 'higher is better'),
    ...legend(top + HEAD.legend, PEERS, 'goal'),
  ];
  for (const [index, { workload, series }] of panels.entries()) {
    const left = MARGIN + AXIS + (index % COLUMNS) * pitch.x;
    const panelTop = top + HEAD.height + LINE + Math.floor(index / COLUMNS) * pitch.y;
    parts.push(text(left, panelTop - 8, workload, 'name'));
    const labelOf = ({ look, last }) => (look === 'n' ? undefined : short(last));
    parts.push(...chart({ ...PANEL, left, top: panelTop, ticks, count: results.length, series, labelOf }));
  }
  return { parts, bottom: top + HEAD.height + Math.ceil(panels.length / COLUMNS) * pitch.y };
}

function rateSeries(results, workload) {
  const races = results.map((result) => raceOf(result, workload));
  return PEERS.map(({ name, look }) => {
    const ratios = races.map((race, index) => {
      if (name !== 'itself') return race?.ratios?.[name];
      // Against a rival, the second instance is another version.
      return results[index].rival === undefined ? race?.noise : undefined;
    });
    const goal = ratios.findLast((ratio) => ratio !== undefined)?.goal;
    return { look, goal, values: ratios.map((ratio) => ratio?.rate.median) };
  }).filter(hasValues);
}

/** One chart for the workloads that hash no password. A hash would exceed the scale. */
function costSection(results, top) {
  const workloads = RACES.map(({ workload }) => workload).filter((workload) => !HASHING.has(workload));
  const series = workloads
    .map((workload) => {
      const values = results.map((result) => {
        const cost = raceOf(result, workload)?.contestants.latchkey.serverCpu;
        return cost === undefined ? undefined : cost / cpuUnit(result);
      });
      return { workload, look: lookOf(workload), values };
    })
    .filter(hasValues);
  const left = MARGIN + AXIS;
  const chartTop = top + HEAD.height;
  const ticks = powersOfTwo(series.flatMap(({ values }) => values));
  const labelOf = ({ workload, last }) => `${workload} ${short(last)}`;
  return {
    parts: [
      ...head(top, 'CPU time of Latchkey per request, divided by a look-up on the bare server', 'lower is better'),
      ...legend(top + HEAD.legend, KINDS),
      ...chart({ ...COST, left, top: chartTop, ticks, count: results.length, series, labelOf }),
    ],
    bottom: chartTop + COST.height,
  };
}

function lookOf(workload) {
  const kind = SIGNING.has(workload) ? 'signs' : READING.has(workload) ? 'reads' : 'writes';
  return KINDS.find((one) => one.kind === kind).look;
}

function runKey(results, top) {
  const rows = Math.ceil(results.length / 2);
  const parts = [text(MARGIN, top + 10, 'Runs', 'name')];
  for (const [index, { measuredAt, commit, machine }] of results.entries()) {
    const x = MARGIN + (index < rows ? 0 : (WIDTH - 2 * MARGIN) / 2);
    const what = `${index + 1}: ${measuredAt.slice(0, 16).replace('T', ' ')}, ${commit?.slice(0, 7) ?? 'unknown'}, ${processorOf(machine)}`;
    parts.push(text(x, top + 10 + ((index % rows) + 1) * LINE, what, 'soft'));
  }
  return { parts, bottom: top + 10 + rows * LINE };
}

/** Draws series over the runs on a logarithmic scale, and labels each at its right end. */
function chart({ left, top, width, height, ticks, count, series, labelOf }) {
  const exponents = ticks.map(Math.log2);
  const span = exponents.at(-1) - exponents[0];
  const x = (index) => left + (width * (index + 0.5)) / count;
  const y = (value) => top + height - (height * (Math.log2(value) - exponents[0])) / span;
  const right = left + width;
  const parts = [];
  for (const tick of ticks) {
    parts.push(path(`M${left} ${fixed(y(tick))}H${right}`, tick === 1 ? 'one' : 'grid'));
    parts.push(text(left - 6, y(tick) + 4, String(tick), 'soft', 'end'));
  }
  parts.push(text(left - 6, top + height + NUMBERS, 'run', 'soft', 'end'));
  for (let index = 0; index < count; index += 1) {
    parts.push(text(x(index), top + height + NUMBERS, String(index + 1), 'soft', 'middle'));
  }
  const ends = [];
  for (const { look, goal, values, ...rest } of series) {
    const points = values.flatMap((value, index) => (value === undefined ? [] : [{ x: x(index), y: y(value), value }]));
    const end = points.at(-1);
    if (goal !== undefined) parts.push(path(`M${left} ${fixed(y(goal))}H${right}`, `goal ${look}`));
    parts.push(path(`M${points.map((point) => `${fixed(point.x)} ${fixed(point.y)}`).join('L')}`, `line ${look}`));
    parts.push(...points.map((point) => mark(point.x, point.y, look)));
    const label = labelOf({ ...rest, look, last: end.value });
    if (label !== undefined) ends.push({ end, look, y: end.y, label });
  }
  for (const { end, look, y: labelY, label } of spread(ends, top, top + height)) {
    parts.push(path(`M${fixed(end.x + 5)} ${fixed(end.y)}L${right + 2} ${fixed(labelY)}`, `lead ${look}`));
    parts.push(text(right + 6, labelY + 4, label));
  }
  return parts;
}

/** Moves labels apart that would overlap, between `top` and `bottom`. */
function spread(labels, top, bottom) {
  const moved = [...labels].sort((one, other) => one.y - other.y);
  let limit = top;
  for (const label of moved) {
    label.y = Math.max(label.y, limit);
    limit = label.y + LINE - 2;
  }
  limit = bottom;
  for (const label of moved.toReversed()) {
    label.y = Math.min(label.y, limit);
    limit = label.y - LINE + 2;
  }
  return moved;
}

function head(y, heading, meaning) {
  return [
    text(MARGIN, y, heading, 'heading'),
    text(MARGIN, y + 20, `${CONCURRENCY} concurrent requests, logarithmic scale, ${meaning}`, 'soft'),
  ];
}

function legend(y, entries, goal) {
  const parts = [];
  let x = MARGIN;
  for (const { label, look } of entries) {
    parts.push(path(`M${x} ${y - 4}h24`, `line ${look}`), mark(x + 12, y - 4, look), text(x + 30, y, label));
    x += 56 + label.length * 6.3;
  }
  if (goal !== undefined) parts.push(path(`M${fixed(x)} ${y - 4}h24`, 'goal n'), text(x + 30, y, goal));
  return parts;
}

function mark(x, y, look) {
  const at = `${fixed(x)} ${fixed(y)}`;
  if (look === 'b') return path(`M${at}m-3.5 -3.5h7v7h-7z`, look);
  if (look === 'c') return path(`M${at}m0 -4.5l4.2 7.5h-8.4z`, look);
  return `<circle class="${look}" cx="${fixed(x)}" cy="${fixed(y)}" r="${look === 'n' ? 2 : 3.5}"/>`;
}

function path(d, look) {
  return `<path class="${look}" d="${d}"/>`;
}

function text(x, y, content, look, anchor) {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const attributes = `${look === undefined ? '' : ` class="${look}"`}${anchor === undefined ? '' : ` text-anchor="${anchor}"`}`;
  return `<text x="${fixed(x)}" y="${fixed(y)}"${attributes}>${escaped}</text>`;
}

/** Returns the powers of two around the values and 1. */
function powersOfTwo(values) {
  const logarithms = [1, ...values.filter((value) => value !== undefined)].map(Math.log2);
  const first = Math.floor(Math.min(...logarithms));
  const last = Math.max(first + 1, Math.ceil(Math.max(...logarithms)));
  return Array.from({ length: last - first + 1 }, (_, index) => 2 ** (first + index));
}

function hasValues({ values }) {
  return values.some((value) => value !== undefined);
}

/** A tenth of a pixel, so that another version of Node.js draws the same bytes. */
function fixed(value) {
  return String(Math.round(value * 10) / 10);
}
