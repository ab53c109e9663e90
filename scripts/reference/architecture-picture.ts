/** Draws the layers of `src` with their modules: `docs/architecture.svg`. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const WIDTH = 880;
const MARGIN = 24;
const INNER = WIDTH - 2 * MARGIN;
const GAP = 14;
const PADDING = 14;
const CHIP = { height: 24, gap: 6, padding: 9 };
/** Mean width of a character of the labels. */
const CHARACTER = 6.7;
const HEADING = 30;

const STYLE = `
text { font: 13px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #15201d; }
.name { font-weight: 600; }
.soft { fill: #566762; }
.chip { font-size: 12px; }
.paper { fill: #f4f6f5; }
.layer { fill: #ffffff; stroke: #d5dcd9; }
.inner { fill: #eef1f0; stroke: #d5dcd9; }
.module { fill: #e3efec; }
.outside { fill: none; stroke: #7c8a86; stroke-dasharray: 5 4; }
.arrow { fill: none; stroke: #566762; stroke-width: 1.4; }
.head { fill: #566762; }
@media (prefers-color-scheme: dark) {
  text { fill: #e9f0ee; }
  .soft { fill: #9fb0ab; }
  .paper { fill: #0e1413; }
  .layer { fill: #161e1c; stroke: #2b3835; }
  .inner { fill: #1d2725; stroke: #2b3835; }
  .module { fill: #20312d; }
  .outside { stroke: #6f827d; }
  .arrow { stroke: #9fb0ab; }
  .head { fill: #9fb0ab; }
}
`;

interface Layer {
  /** Folders below `src`. The names of the folders in the first one are its modules. */
  readonly folder: string;
  readonly text: string;
  /** A module that the others of the layer may import, with its description. */
  readonly below?: readonly [module: string, text: string];
}

/** From top to bottom. Layers of one row do not import each other, except `config`, which may import `protocol`. */
const ROWS: readonly (readonly Layer[])[] = [
  [
    { folder: 'cli', text: 'one file per command' },
    { folder: 'app', text: 'composition, the running service' },
  ],
  [{ folder: 'features', text: 'what callers request: routes, forms, formats' }],
  [
    { folder: 'browser', text: 'what pages share' },
    { folder: 'oauth-endpoint', text: 'what OAuth endpoints share' },
  ],
  [
    {
      folder: 'domain',
      text: 'decisions and their SQL; each module changes its own tables',
      below: ['records', 'what is stored, and until when it is valid'],
    },
  ],
  [
    { folder: 'protocol', text: 'published rules as pure functions' },
    { folder: 'config', text: 'settings' },
  ],
  [{ folder: 'vocabulary', text: 'names of this product: error codes, kinds of IDs, metrics' }],
  [
    {
      folder: 'platform',
      text: 'could serve any product',
      below: ['base', 'clock, IDs, secrets, interfaces of log and metrics'],
    },
  ],
];

const CALLERS = ['Browsers', 'Apps and APIs', 'Chat clients', 'Homeserver', 'Administrators'];
const SERVERS = ['PostgreSQL', 'Mail server', 'Sign-in providers', 'Homeserver', 'Collectors'];
const CALLER_HEIGHT = 34;
const ARROW = 26;

/** @param root directory of `package.json` */
export function architecturePicture(root: string): string {
  requireAllFolders(root);
  const parts: string[] = [];
  let top = MARGIN;
  parts.push(...outsideRow(CALLERS, top), ...arrow(top + CALLER_HEIGHT));
  top += CALLER_HEIGHT + ARROW;
  for (const row of ROWS) {
    const width = (INNER - GAP * (row.length - 1)) / row.length;
    const drawn = row.map((layer, index) => layerPart(root, layer, MARGIN + index * (width + GAP), top, width));
    const height = Math.max(...drawn.map((one) => one.height));
    for (const { frame, content } of drawn) parts.push(frame(height), ...content);
    top += height + GAP;
  }
  parts.push(...arrow(top - GAP), ...outsideRow(SERVERS, top - GAP + ARROW));
  const height = top - GAP + ARROW + CALLER_HEIGHT + MARGIN;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title description">`,
    '<title id="title">Layers of Latchkey</title>',
    `<desc id="description">${description()}</desc>`,
    `<style>${STYLE}</style>`,
    `<rect class="paper" width="${WIDTH}" height="${height}" rx="10"/>`,
    ...parts,
    '</svg>\n',
  ].join('\n');
}

function description(): string {
  const layers = ROWS.map((row) => row.map(({ folder, text }) => `${folder} (${text})`).join(' and '));
  return (
    `${CALLERS.join(', ')} call the service. Its layers, each of which imports only those below it: ` +
    `${layers.join('; ')}. The service calls ${SERVERS.join(', ')}.`
  );
}

/** A new folder must be placed in the picture. */
function requireAllFolders(root: string): void {
  const drawn = new Set(ROWS.flat().map(({ folder }) => folder));
  const missing = foldersIn(join(root, 'src')).filter((name) => !drawn.has(name));
  if (missing.length > 0)
    throw new Error(`scripts/reference/architecture-picture.ts does not draw ${missing.join(', ')}`);
}

function layerPart(root: string, { folder, text, below }: Layer, left: number, top: number, width: number) {
  const modules = foldersIn(join(root, 'src', folder)).filter((name) => name !== below?.[0]);
  const chips = chipParts(modules, left + PADDING, top + HEADING + 8, width - 2 * PADDING);
  const content = [label(left + PADDING, top + 21, folder, text), ...chips.parts];
  let height = HEADING + (modules.length === 0 ? 0 : 8 + chips.height) + PADDING;
  if (below !== undefined) {
    const place = { x: left + PADDING, y: top + height, width: width - 2 * PADDING };
    content.push(box('inner', place.x, place.y, place.width, 32), label(place.x + 10, place.y + 21, ...below));
    height += 32 + PADDING;
  }
  return { height, content, frame: (full: number) => box('layer', left, top, width, full) };
}

function chipParts(names: readonly string[], left: number, top: number, width: number) {
  const parts: string[] = [];
  let [x, y] = [left, top];
  for (const name of names) {
    const wide = Math.round(name.length * CHARACTER + 2 * CHIP.padding);
    if (x + wide > left + width) [x, y] = [left, y + CHIP.height + CHIP.gap];
    parts.push(
      `<rect class="module" x="${x}" y="${y}" width="${wide}" height="${CHIP.height}" rx="6"/>`,
      `<text class="chip" text-anchor="middle" x="${x + wide / 2}" y="${y + 16}">${name}</text>`,
    );
    x += wide + CHIP.gap;
  }
  return { parts, height: y - top + CHIP.height };
}

function outsideRow(names: readonly string[], top: number): string[] {
  const width = (INNER - GAP * (names.length - 1)) / names.length;
  return names.flatMap((name, index) => {
    const left = MARGIN + index * (width + GAP);
    return [
      box('outside', left, top, width, CALLER_HEIGHT),
      `<text text-anchor="middle" x="${left + width / 2}" y="${top + 22}">${name}</text>`,
    ];
  });
}

function arrow(top: number): string[] {
  const [middle, end] = [WIDTH / 2, top + ARROW - 4];
  return [
    `<path class="arrow" d="M${middle} ${top + 4}V${end - 6}"/>`,
    `<path class="head" d="M${middle} ${end}l-5 -8h10z"/>`,
  ];
}

function box(kind: string, x: number, y: number, width: number, height: number): string {
  return `<rect class="${kind}" x="${x}" y="${y}" width="${width}" height="${height}" rx="8"/>`;
}

function label(x: number, y: number, name: string, text: string): string {
  return `<text x="${x}" y="${y}"><tspan class="name">${name}</tspan><tspan class="soft" dx="10">${text}</tspan></text>`;
}

function foldersIn(directory: string): string[] {
  const entries = readdirSync(directory, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
}
