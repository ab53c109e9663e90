/**
 * The layout of each page, compared with the last accepted one: boxes of its elements in several appearances, and their
 * colors. Unlike pictures, it does not depend on the fonts and the text rendering of a machine: all texts are set in the
 * font of the browser's package, and times, IDs and other numbers are masked.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { appear } from './examine.js';

const FOLDER = join(import.meta.dirname, '../accepted');
/** In CSS pixels. Rounding differs by less, and a wrapped line, a lost gap or a missing border by more. */
const TOLERANCE = 5;
const MAX_REPORTED = 8;

const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 320, height: 640 };
const LOOKS = [
  { name: 'wide', viewport: WIDE, direction: 'ltr' },
  { name: 'at 320 px', viewport: NARROW, direction: 'ltr' },
  { name: 'right to left', viewport: WIDE, direction: 'rtl' },
];

/**
 * Compares the layout of a page with the accepted one.
 * @param isAccepting writes the accepted one in place of comparing
 */
export async function checkLayout(page, name, isAccepting) {
  const found = await layoutOf(page);
  const file = join(FOLDER, `${name}.txt`);
  if (isAccepting) {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(file, found.map((element) => `${lineOf(element)}\n`).join(''));
    return;
  }
  assert.ok(existsSync(file), `no layout of ${name} was accepted; ${ADVICE}`);
  const accepted = readFileSync(file, 'utf8').split('\n').slice(0, -1).map(parseLine);
  const differences = differencesOf(accepted, found);
  assert.deepEqual(differences.slice(0, MAX_REPORTED), [], ADVICE);
}

const ADVICE = 'if the change is intended, run: npm run --prefix tools journey -- --accept';

function differencesOf(accepted, found) {
  const names = (elements) => elements.map(({ name }) => name);
  const different = found.findIndex(({ name }, index) => name !== accepted[index]?.name);
  if (different !== -1 || accepted.length !== found.length) {
    const at = different === -1 ? found.length : different;
    const [expected, is] = [accepted, found].map(
      (elements) =>
        names(elements)
          .slice(at, at + 3)
          .join(', ') || 'nothing',
    );
    return [`element ${at + 1}: expected ${expected}; found ${is}`];
  }
  return found.flatMap(({ name, boxes, colors }, index) => {
    const before = accepted[index];
    const moved = LOOKS.filter((_, look) =>
      boxes[look].some((value, side) => Math.abs(value - before.boxes[look][side]) > TOLERANCE),
    );
    return [
      ...moved.map((look) => {
        const place = LOOKS.indexOf(look);
        return `${name}, ${look.name}: expected ${before.boxes[place]}; found ${boxes[place]} (x, y, width, height)`;
      }),
      ...(colors.join() === before.colors.join()
        ? []
        : [`${name}: expected the colors ${before.colors.join(', ')}; found ${colors.join(', ')} (light, dark)`]),
    ];
  });
}

/** One line for each element: name, boxes by look, colors in light and dark. */
function lineOf({ name, boxes, colors }) {
  return [name, ...boxes.map((box) => box.join(' ')), ...colors].join('|');
}

function parseLine(line) {
  const [name, ...rest] = line.split('|');
  return {
    name,
    boxes: rest.slice(0, LOOKS.length).map((box) => box.split(' ').map(Number)),
    colors: rest.slice(LOOKS.length),
  };
}

async function layoutOf(page) {
  await page.evaluate(prepare, fontOfBrowser());
  const looks = [];
  for (const { viewport, direction } of LOOKS) {
    await appear(page, { viewport, colorScheme: 'light' });
    looks.push(await page.evaluate(measure, direction));
  }
  await appear(page, { viewport: WIDE, colorScheme: 'dark' });
  const dark = await page.evaluate(measure, 'ltr');
  const [light] = looks;
  const counts = [...looks, dark].map((elements) => elements.length);
  assert.equal(new Set(counts).size, 1, `every appearance has the same elements: ${counts}`);
  return light.map(({ name, colors }, index) => ({
    name,
    boxes: looks.map((elements) => elements[index].box),
    colors: [colors, dark[index].colors],
  }));
}

/** Runs in the page: sets the font, and masks what differs from run to run. */
async function prepare(font) {
  const { document } = globalThis;
  const bytes = Uint8Array.from(globalThis.atob(font), (character) => character.codePointAt(0));
  const face = new globalThis.FontFace('layout', bytes);
  document.fonts.add(await face.load());
  const sheet = new globalThis.CSSStyleSheet();
  sheet.replaceSync('* { font-family: layout !important; caret-color: transparent !important }');
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  document.activeElement?.blur();
  const texts = document.createTreeWalker(document.body, globalThis.NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    const isVarying = text.parentElement.closest('time, code, dd, .report, .user-code, .code') !== null;
    text.data = isVarying && text.data.trim() !== '' ? '0000' : text.data.replaceAll(/\d+/g, '0');
  }
}

/** Runs in the page: names, boxes and colors of the elements with a box of their own. */
function measure(direction) {
  const { document } = globalThis;
  document.documentElement.dir = direction;
  globalThis.scrollTo(0, 0);
  const TAGS = new Set(['MAIN', 'HEADER', 'FOOTER', 'NAV', 'FORM', 'H1', 'H2', 'H3', 'P', 'A', 'BUTTON', 'INPUT']);
  for (const tag of ['SELECT', 'TEXTAREA', 'SUMMARY', 'LABEL', 'TABLE', 'IMG', 'IFRAME', 'LI']) TAGS.add(tag);
  const hex = (color) => {
    const [red, green, blue, alpha = '1'] = color.match(/[\d.]+/g) ?? [];
    if (alpha === '0') return '';
    return `#${[red, green, blue].map((value) => Number(value).toString(16).padStart(2, '0')).join('')}`;
  };
  const colorsOf = (element, style) => {
    const inherited = globalThis.getComputedStyle(element.parentElement).color;
    const text = style.color === inherited ? '' : hex(style.color);
    const border = style.borderBlockStartWidth === '0px' ? '' : hex(style.borderBlockStartColor);
    return [text, hex(style.backgroundColor), border].join(' ').trimEnd();
  };
  return [...document.querySelectorAll('body *')].flatMap((element) => {
    if (element.closest('svg') !== null && element.tagName !== 'svg') return [];
    const style = globalThis.getComputedStyle(element);
    const { x, y, width, height } = element.getBoundingClientRect();
    const [first] = element.classList;
    if (style.display === 'inline' || !element.checkVisibility() || width === 0 || height === 0) return [];
    if (first === undefined && !TAGS.has(element.tagName)) return [];
    return [
      {
        name: `${element.tagName.toLowerCase()}${first === undefined ? '' : `.${first}`}`,
        box: [x, y, width, height].map(Math.round),
        colors: colorsOf(element, style),
      },
    ];
  });
}

let font;

/** Returns the first font in the archive of fonts of the browser's package, as base64. */
function fontOfBrowser() {
  if (font !== undefined) return font;
  const main = createRequire(import.meta.url).resolve('@sparticuz/chromium');
  const root = main.slice(0, main.lastIndexOf('@sparticuz/chromium') + '@sparticuz/chromium'.length);
  const archive = brotliDecompressSync(readFileSync(join(root, 'bin/fonts.tar.br')));
  for (let at = 0; at + 512 <= archive.length; ) {
    const name = archive.toString('latin1', at, at + 100).split('\0', 1)[0];
    const size = Number.parseInt(archive.toString('latin1', at + 124, at + 136), 8) || 0;
    if (/\.(?:ttf|otf)$/.test(name)) {
      font = archive.toString('base64', at + 512, at + 512 + size);
      return font;
    }
    at += 512 + Math.ceil(size / 512) * 512;
  }
  throw new Error('the package of the browser has no font');
}
