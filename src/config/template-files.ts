import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { systemReason } from '#platform/base/system-errors.ts';
import type { Problem } from '#platform/config/problems.ts';
import { type MappingNode, nodeAt, type Path, pathText } from '#platform/config/tree.ts';
import {
  MAIL_NAMES,
  MAIL_PARTS,
  type MailName,
  type MailPartName,
  type MailTemplate,
  type MailTemplates,
  parseMailTemplate,
} from './mail-template.ts';
import { inlineProblem, readMarkup } from './markup.ts';
import type { OwnTranslations } from './own-translations.ts';
import { type PageTemplate, parsePageTemplate } from './page-template.ts';
import type { TemplateProblem } from './placeholders.ts';

const MAX_BYTES = 64 * 1024;
export const TEMPLATES_KEY = ['templates', 'path'];
const PAGE = 'page.html';
const MAILS = 'emails';

/** A problem in one template file. */
export interface TemplateFileProblem {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  /** Undefined: applies to the whole file, which `text` names. */
  readonly column: number | undefined;
  readonly text: string;
}

export interface Templates {
  /** Replaces the bundled page layout. */
  readonly page: PageTemplate | undefined;
  /** Replace parts of bundled mails. */
  readonly mails: MailTemplates;
  /** Replace bundled texts and add languages. */
  readonly translations: OwnTranslations;
}

/**
 * Reads the operator's templates, named like the bundled ones that they replace. Templates with problems are left out.
 */
export function readTemplates(root: MappingNode): {
  readonly templates: Pick<Templates, 'mails' | 'page'>;
  readonly problems: readonly TemplateFileProblem[];
} {
  const node = nodeAt(root, TEMPLATES_KEY);
  const problems: TemplateFileProblem[] = [];
  let page: PageTemplate | undefined;
  let mails: MailTemplates = {};
  if (node?.kind === 'scalar' && typeof node.value === 'string' && node.value !== '') {
    try {
      for (const name of readdirSync(node.value).toSorted()) {
        const file = join(node.value, name);
        // Unknown names are problems: a misspelled one would silently leave the bundled template in use.
        if (name === PAGE) page = readPage(file, problems);
        else if (name === MAILS) mails = readMails(file, problems);
        else if (name.endsWith('.html'))
          problems.push(ofFile(file, `${file} does not replace a template; expected ${PAGE}`));
      }
    } catch (error) {
      problems.push(ofFile(node.value, `cannot read the directory ${node.value}: ${systemReason(error)}`));
    }
  }
  return { templates: { page, mails }, problems };
}

/** Converts the problems of files into problems of the setting that names the files. */
export function fileSettingProblems(root: MappingNode, key: Path, problems: readonly TemplateFileProblem[]): Problem[] {
  const at = nodeAt(root, key)?.at;
  return problems.map(({ file, line, column, text }) => {
    return { key: pathText(key), message: column === undefined ? text : `${file}:${line}:${column}: ${text}`, at };
  });
}

function readPage(path: string, problems: TemplateFileProblem[]): PageTemplate | undefined {
  const text = readTemplateText(path, problems);
  if (text === undefined) return undefined;
  const { template, problems: found } = parsePageTemplate(text);
  const all = [...found, ...markupProblems(text)];
  problems.push(...all.map((problem) => placed(path, text, problem)));
  return all.length === 0 ? template : undefined;
}

/** Reads the files `NAME.subject`, `NAME.txt` and `NAME.html`. */
function readMails(directory: string, problems: TemplateFileProblem[]): MailTemplates {
  const found = new Map<MailName, Partial<Record<MailPartName, MailTemplate>>>();
  for (const file of readdirSync(directory).toSorted()) {
    const part = MAIL_PARTS.find((one) => file.endsWith(`.${one}`));
    if (part === undefined) continue;
    const path = join(directory, file);
    const name = MAIL_NAMES.find((one) => file === `${one}.${part}`);
    if (name === undefined) {
      problems.push(ofFile(path, `${path} does not replace a template; the emails are ${MAIL_NAMES.join(', ')}`));
      continue;
    }
    const text = readTemplateText(path, problems);
    if (text === undefined) continue;
    const { template, problems: wrong } = parseMailTemplate(name, part, text);
    problems.push(...wrong.map((problem) => placed(path, text, problem)));
    if (wrong.length === 0) found.set(name, { ...found.get(name), [part]: template });
  }
  return Object.fromEntries(found);
}

/** Reads a text file with a size limit. */
export function readTemplateText(
  path: string,
  problems: TemplateFileProblem[],
  maxBytes = MAX_BYTES,
): string | undefined {
  try {
    const stats = statSync(path);
    // Reading a named pipe would block forever.
    if (!stats.isFile() || stats.size > maxBytes) {
      problems.push(
        ofFile(
          path,
          stats.isFile() ? `the file ${path} is larger than ${maxBytes / 1024} KiB` : `${path} is not a file`,
        ),
      );
      return undefined;
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    const isBinary = error instanceof TypeError;
    const text = isBinary ? `the file ${path} is not UTF-8` : `cannot read ${path}: ${systemReason(error)}`;
    problems.push(ofFile(path, text));
    return undefined;
  }
}

/**
 * Creates a problem of a whole file.
 * @param text message that names the file
 */
export function ofFile(file: string, text: string): TemplateFileProblem {
  return { file, line: 1, column: undefined, text };
}

function placed(file: string, content: string, { offset, message }: TemplateProblem): TemplateFileProblem {
  return { file, ...placeOf(content, offset), text: message };
}

export function placeOf(content: string, offset: number): { readonly line: number; readonly column: number } {
  const before = content.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/**
 * Elements that the Content-Security-Policy of the pages blocks, and elements that a page may contain only once and
 * already has.
 */
const REFUSED = new Set([
  ...['script', 'style', 'link', 'meta', 'base', 'iframe', 'object', 'embed', 'form', 'template'],
  ...['html', 'head', 'title', 'body', 'main', 'h1'],
]);

/** Returns the markup problems of a template: elements not closed in order, and inline code or style. */
function markupProblems(text: string): readonly TemplateProblem[] {
  const { tags, problems } = readMarkup(text);
  const refused = tags.flatMap(({ name, attributes, offset }) => [
    ...(REFUSED.has(name) ? [{ offset, message: `<${name}> is not allowed in a template` }] : []),
    ...attributes.flatMap((attribute) => {
      const message = inlineProblem(attribute);
      return message === undefined ? [] : [{ offset: attribute.offset, message }];
    }),
  ]);
  return [...problems, ...refused].toSorted((left, right) => left.offset - right.offset);
}
