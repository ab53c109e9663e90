/**
 * Parses the subset of HTML that the service and its operators write: tags closed in order and quoted attribute values.
 */
import type { TemplateProblem } from './placeholders.ts';

export interface Attribute {
  /** In lowercase. */
  readonly name: string;
  /** As written; empty for an attribute without a value. */
  readonly value: string;
  readonly offset: number;
}

/** The start tag of an element. */
export interface Tag {
  /** In lowercase. */
  readonly name: string;
  readonly attributes: readonly Attribute[];
  readonly offset: number;
  /** Offset of the element's content. */
  readonly end: number;
}

/** Void elements, which have no end tag. */
const VOID = new Set([
  ...['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input'],
  ...['link', 'meta', 'source', 'track', 'wbr'],
]);
/** Foreign elements: their descendants may be self-closing. */
const FOREIGN = new Set(['svg', 'math']);
/** Elements whose content is text up to their end tag. */
const RAW = new Set(['script', 'style', 'textarea', 'title']);

const ATTRIBUTES = /\s+([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'))?/y;
const TAG = /<(\/?)([a-z][a-z0-9-]*)/iy;
const TAG_END = /\s*(\/?)>/y;
const DOCTYPE = /^<!doctype html>/i;
const CODE_ADDRESS = /^\s*(?:javascript|vbscript|data):/i;

/** Returns the elements of a text and its syntax errors. Parsing stops at an invalid tag. */
export function readMarkup(text: string): {
  readonly tags: readonly Tag[];
  readonly problems: readonly TemplateProblem[];
} {
  const tags: Tag[] = [];
  const problems: TemplateProblem[] = [];
  const open: Tag[] = [];
  let at = text.indexOf('<', DOCTYPE.exec(text)?.[0].length);
  while (at !== -1) {
    const end = text.startsWith('<!--', at) ? endOf(text, '-->', at) : readTag(text, at, { tags, problems, open });
    if (end === undefined) {
      problems.push({ offset: at, message: 'not well-formed: expected a tag with quoted attribute values, or &lt;' });
      return { tags, problems };
    }
    at = nextTag(text, end, open.at(-1));
  }
  return { tags, problems: [...problems, ...open.map(({ name, offset }) => notClosed(name, offset))] };
}

/**
 * Reports an attribute that the Content-Security-Policy of the pages blocks: inline code, inline style, or a URL that
 * is code.
 * @param holdsAddress whether the value may be a URL
 */
export function inlineProblem({ name, value }: Attribute, holdsAddress = true): string | undefined {
  if (name === 'style') return 'inline styles are blocked by the browser; use the CSS classes of the pages';
  if (name.startsWith('on')) return `inline scripts (${name}) are blocked by the browser`;
  return holdsAddress && CODE_ADDRESS.test(value) ? `a URL with code or data (${name}) is not allowed` : undefined;
}

function notClosed(name: string, offset: number): TemplateProblem {
  return { offset, message: `<${name}> is not closed` };
}

function nextTag(text: string, from: number, last: Tag | undefined): number {
  if (last === undefined || last.end !== from || !RAW.has(last.name)) return text.indexOf('<', from);
  const closing = text.slice(from).search(new RegExp(`</${last.name}\\b`, 'i'));
  return closing === -1 ? -1 : from + closing;
}

interface Found {
  readonly tags: Tag[];
  readonly problems: TemplateProblem[];
  readonly open: Tag[];
}

/** @returns the offset after the tag, or undefined if it is not a valid tag */
function readTag(text: string, offset: number, { tags, problems, open }: Found): number | undefined {
  TAG.lastIndex = offset;
  const [, slash, written = ''] = TAG.exec(text) ?? [];
  if (written === '') return undefined;
  const name = written.toLowerCase();
  const { attributes, end: afterAttributes } = readAttributes(text, TAG.lastIndex);
  TAG_END.lastIndex = afterAttributes;
  const closed = TAG_END.exec(text);
  if (closed === null) return undefined;
  const end = TAG_END.lastIndex;
  if (slash === '/') {
    if (open.pop()?.name !== name) problems.push({ offset, message: `</${name}> does not close an element` });
    return end;
  }
  const tag = { name, attributes, offset, end };
  tags.push(tag);
  const endsItself = closed[1] === '/' && open.some((above) => FOREIGN.has(above.name));
  if (!VOID.has(name) && !endsItself) open.push(tag);
  return end;
}

function readAttributes(text: string, from: number): { readonly attributes: Attribute[]; readonly end: number } {
  const attributes: Attribute[] = [];
  let end = from;
  for (;;) {
    ATTRIBUTES.lastIndex = end;
    const [, name, double, single] = ATTRIBUTES.exec(text) ?? [];
    if (name === undefined) return { attributes, end };
    attributes.push({ name: name.toLowerCase(), value: double ?? single ?? '', offset: end + 1 });
    end = ATTRIBUTES.lastIndex;
  }
}

function endOf(text: string, closing: string, from: number): number | undefined {
  const found = text.indexOf(closing, from);
  return found === -1 ? undefined : found + closing.length;
}
