/** The operator's theme: custom properties that override those of the pages, in the syntax of CSS. */
import { type MappingNode, nodeAt } from '#platform/config/tree.ts';
import {
  BUNDLED_COLORS,
  colorsOf,
  contrastProblems,
  isColorName,
  SCHEMES,
  SHAPES,
  type Theme,
} from '#vocabulary/theme.ts';
import { ofFile, placeOf, readTemplateText, type TemplateFileProblem } from './template-files.ts';

export const THEME_KEY = ['branding', 'theme_file'];

/** Reads the file. Only complete and readable themes are returned. */
export function readTheme(root: MappingNode): {
  readonly theme: Theme | undefined;
  readonly problems: readonly TemplateFileProblem[];
} {
  const node = nodeAt(root, THEME_KEY);
  const problems: TemplateFileProblem[] = [];
  if (node?.kind !== 'scalar' || typeof node.value !== 'string' || node.value === '')
    return { theme: undefined, problems };
  const file = node.value;
  const text = readTemplateText(file, problems);
  if (text === undefined) return { theme: undefined, problems };
  const { theme, found } = parseTheme(text);
  problems.push(...found.map(({ offset, message }) => ({ file, ...placeOf(text, offset), text: message })));
  if (problems.length === 0) {
    for (const scheme of SCHEMES) {
      const wrong = contrastProblems(scheme, colorsOf(scheme, theme[scheme]));
      problems.push(...wrong.map((message) => ofFile(file, `${file}: ${message}`)));
    }
  }
  return { theme: problems.length === 0 ? theme : undefined, problems };
}

const COMMENT = /\/\*[\s\S]*?\*\//g;
const LIGHT_RULE = /\s*:root\s*\{([^{}]*)\}/y;
const DARK_RULE = /\s*@media\s*\(\s*prefers-color-scheme\s*:\s*dark\s*\)\s*\{\s*:root\s*\{([^{}]*)\}\s*\}/y;
const DECLARATION = /^--([a-z-]+)\s*:\s*(\S[\s\S]*)$/;

const COLOR = /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i;
const LENGTH = /^(?:0|\d{1,2}(?:\.\d{1,3})?(?:px|rem))$/;
/** Names of installed fonts: identifiers, or names in double quotes. */
const FONTS = /^(?:[a-z-]+|"[a-z0-9 ._-]+")(?:\s*,\s*(?:[a-z-]+|"[a-z0-9 ._-]+"))*$/i;
const MAX_FONTS = 300;

type Draft = { readonly [Part in keyof Theme]: { -readonly [Name in keyof Theme[Part]]: Theme[Part][Name] } };

interface Problem {
  readonly offset: number;
  readonly message: string;
}

function parseTheme(original: string): { readonly theme: Theme; readonly found: readonly Problem[] } {
  const text = original.replaceAll(COMMENT, (comment) => comment.replaceAll(/[^\n]/g, ' '));
  const theme: Draft = { light: {}, dark: {}, shapes: {} };
  const found: Problem[] = [];
  let offset = 0;
  while (text.slice(offset).trim() !== '') {
    const light = matchAt(LIGHT_RULE, text, offset);
    const match = light ?? matchAt(DARK_RULE, text, offset);
    if (match === null) {
      found.push({
        offset: offset + text.slice(offset).search(/\S/),
        message: 'expected ":root { ... }" or "@media (prefers-color-scheme: dark) { :root { ... } }"',
      });
      break;
    }
    const [whole, body = ''] = match;
    readDeclarations(body, offset + whole.lastIndexOf('{') + 1, light === null ? 'dark' : 'light', theme, found);
    offset += whole.length;
  }
  return { theme, found };
}

function matchAt(expression: RegExp, text: string, offset: number): RegExpExecArray | null {
  expression.lastIndex = offset;
  return expression.exec(text);
}

function readDeclarations(body: string, start: number, scheme: 'light' | 'dark', theme: Draft, found: Problem[]): void {
  let offset = start;
  for (const part of body.split(';')) {
    const declaration = part.trim();
    const at = offset + part.search(/\S/);
    offset += part.length + 1;
    if (declaration === '') continue;
    const [, name = '', value = ''] = DECLARATION.exec(declaration) ?? [];
    const message = assign(name, value, scheme, theme);
    if (message !== undefined) found.push({ offset: at, message });
  }
}

function assign(name: string, value: string, scheme: 'light' | 'dark', theme: Draft): string | undefined {
  if (name === '') return 'expected "--name: value"';
  if (isColorName(name)) {
    if (!COLOR.test(value)) return `--${name}: expected a color such as #0b5fa5`;
    theme[scheme][name] = longColor(value.toLowerCase());
    return undefined;
  }
  const shape = SHAPES.find((one) => one === name);
  if (shape === undefined) return `unknown property --${name}; available: ${NAMES}`;
  if (scheme === 'dark') return `--${shape} cannot differ in the dark scheme`;
  if (shape === 'font') {
    if (value.length > MAX_FONTS || !FONTS.test(value))
      return '--font: expected font names such as system-ui, "Noto Sans", sans-serif';
  } else if (!LENGTH.test(value)) return `--${shape}: expected a length such as 0.5rem or 8px`;
  theme.shapes[shape] = value;
  return undefined;
}

const NAMES = [...Object.keys(BUNDLED_COLORS.light), ...SHAPES].map((name) => `--${name}`).join(', ');

function longColor(color: string): string {
  return color.length === 4 ? `#${[...color.slice(1)].map((digit) => digit + digit).join('')}` : color;
}
