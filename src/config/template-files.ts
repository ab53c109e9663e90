import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { systemReason } from '#platform/base/system-errors.ts';
import type { Problem } from '#platform/config/problems.ts';
import { type MappingNode, nodeAt, pathText } from '#platform/config/tree.ts';
import {
  MAIL_NAMES,
  MAIL_PARTS,
  type MailName,
  type MailPartName,
  type MailTemplate,
  type MailTemplates,
  parseMailTemplate,
} from './mail-template.ts';
import { type PageTemplate, parsePageTemplate } from './page-template.ts';
import type { TemplateProblem } from './placeholders.ts';

const MAX_BYTES = 64 * 1024;
const KEY = ['templates', 'path'];
const PAGE = 'page.html';
const MAILS = 'emails';

type Report = (message: string) => void;

export interface Templates {
  /** In place of the bundled one. */
  readonly page: PageTemplate | undefined;
  /** In place of parts of bundled ones. */
  readonly mails: MailTemplates;
}

/** Reads the templates of the operator, which have the names of those that they replace. */
export function readTemplates(root: MappingNode): { readonly templates: Templates; readonly problems: Problem[] } {
  const node = nodeAt(root, KEY);
  const problems: Problem[] = [];
  const report = (message: string) => problems.push({ key: pathText(KEY), message, at: node?.at });
  let page: PageTemplate | undefined;
  let mails: MailTemplates = {};
  if (node?.kind === 'scalar' && typeof node.value === 'string' && node.value !== '') {
    try {
      for (const name of readdirSync(node.value).toSorted()) {
        // A name with a mistake would leave the bundled template in its place without a word.
        if (name === PAGE) page = readPage(join(node.value, name), report);
        else if (name === MAILS) mails = readMails(join(node.value, name), report);
        else if (name.endsWith('.html')) report(`${join(node.value, name)} replaces nothing; the template is ${PAGE}`);
      }
    } catch (error) {
      report(`cannot read the directory ${node.value}: ${systemReason(error)}`);
    }
  }
  return { templates: { page, mails }, problems };
}

function readPage(path: string, report: Report): PageTemplate | undefined {
  const text = readText(path, report);
  if (text === undefined) return undefined;
  const { template, problems } = parsePageTemplate(text);
  for (const problem of [...problems, ...markupProblems(text)]) report(`${path}${placeIn(text, problem)}`);
  return template;
}

/** Files `NAME.subject`, `NAME.txt` and `NAME.html`. */
function readMails(directory: string, report: Report): MailTemplates {
  const found = new Map<MailName, Partial<Record<MailPartName, MailTemplate>>>();
  for (const file of readdirSync(directory).toSorted()) {
    const part = MAIL_PARTS.find((one) => file.endsWith(`.${one}`));
    if (part === undefined) continue;
    const path = join(directory, file);
    const name = MAIL_NAMES.find((one) => file === `${one}.${part}`);
    if (name === undefined) {
      report(`${path} replaces nothing; the mails are ${MAIL_NAMES.join(', ')}`);
      continue;
    }
    const text = readText(path, report);
    if (text === undefined) continue;
    const { template, problems } = parseMailTemplate(name, part, text);
    for (const problem of problems) report(`${path}${placeIn(text, problem)}`);
    found.set(name, { ...found.get(name), [part]: template });
  }
  return Object.fromEntries(found);
}

function readText(path: string, report: Report): string | undefined {
  try {
    const stats = statSync(path);
    // Reading a pipe would wait for ever.
    if (!stats.isFile() || stats.size > MAX_BYTES) {
      report(stats.isFile() ? `the file ${path} is larger than 64 KiB` : `${path} is not a file`);
      return undefined;
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    report(
      error instanceof TypeError ? `the file ${path} is not UTF-8` : `cannot read ${path}: ${systemReason(error)}`,
    );
    return undefined;
  }
}

function placeIn(text: string, { offset, message }: TemplateProblem): string {
  const before = text.slice(0, offset).split('\n');
  return `:${before.length}:${(before.at(-1)?.length ?? 0) + 1}: ${message}`;
}

const VOID = new Set(['area', 'br', 'col', 'hr', 'img', 'wbr']);
/** What the policy of the pages would not let work, and what a page may have only once and has already. */
const REFUSED = new Set([
  ...['script', 'style', 'link', 'meta', 'base', 'iframe', 'object', 'embed', 'form', 'template'],
  ...['html', 'head', 'title', 'body', 'main', 'h1'],
]);
const ATTRIBUTES = /\s+([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'))?/y;
const TAG = /<(\/?)([a-z][a-z0-9-]*)/iy;
const CODE_ADDRESS = /^\s*(?:javascript|vbscript|data):/i;

/** What is wrong with the markup of a template: elements that are not closed in order, and inline code or style. */
function markupProblems(text: string): readonly TemplateProblem[] {
  const problems: TemplateProblem[] = [];
  const open: { readonly name: string; readonly offset: number }[] = [];
  let at = text.indexOf('<');
  while (at !== -1) {
    const end = text.startsWith('<!--', at) ? endOf(text, '-->', at) : readTag(text, at, open, problems);
    if (end === undefined) {
      problems.push({ offset: at, message: 'not well-formed: expected a tag with its values in quotes, or &lt;' });
      return problems;
    }
    at = text.indexOf('<', end);
  }
  return [...problems, ...open.map(({ name, offset }) => ({ offset, message: `<${name}> is not closed` }))];
}

/** @returns where the tag ends; undefined when it is none */
function readTag(
  text: string,
  offset: number,
  open: { readonly name: string; readonly offset: number }[],
  problems: TemplateProblem[],
): number | undefined {
  TAG.lastIndex = offset;
  const [, slash, written = ''] = TAG.exec(text) ?? [];
  if (written === '') return undefined;
  const name = written.toLowerCase();
  let end = TAG.lastIndex;
  for (;;) {
    ATTRIBUTES.lastIndex = end;
    const [, attribute, double, single] = ATTRIBUTES.exec(text) ?? [];
    if (attribute === undefined) break;
    const message = attributeProblem(attribute.toLowerCase(), double ?? single ?? '');
    if (message !== undefined) problems.push({ offset: end + 1, message });
    end = ATTRIBUTES.lastIndex;
  }
  const close = /\s*\/?>/y;
  close.lastIndex = end;
  if (!close.test(text)) return undefined;
  if (slash === '/') {
    const last = open.pop();
    if (last?.name !== name) problems.push({ offset, message: `</${name}> closes nothing` });
  } else {
    if (REFUSED.has(name)) problems.push({ offset, message: `<${name}> is not allowed in a template` });
    if (!VOID.has(name)) open.push({ name, offset });
  }
  return close.lastIndex;
}

function attributeProblem(name: string, value: string): string | undefined {
  if (name === 'style') return 'inline style is refused by the browser; use the classes of the pages';
  if (name.startsWith('on')) return `inline script (${name}) is refused by the browser`;
  return CODE_ADDRESS.test(value) ? `an address with code or data (${name}) is refused` : undefined;
}

function endOf(text: string, closing: string, from: number): number | undefined {
  const found = text.indexOf(closing, from);
  return found === -1 ? undefined : found + closing.length;
}
