import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { systemReason } from '#platform/base/system-reason.ts';
import type { Problem } from '#platform/config/problems.ts';
import { type MappingNode, nodeAt, pathText } from '#platform/config/tree.ts';
import { type PageTemplate, parsePageTemplate, type TemplateProblem } from './page-template.ts';
import { markupProblems } from './template-markup.ts';

const MAX_BYTES = 64 * 1024;
const KEY = ['templates', 'path'];
const PAGE = 'page.html';

export interface Templates {
  /** In place of the bundled one. */
  readonly page: PageTemplate | undefined;
}

/** Reads the templates of the operator, which have the names of those that they replace. */
export function readTemplates(root: MappingNode): { readonly templates: Templates; readonly problems: Problem[] } {
  const node = nodeAt(root, KEY);
  const problems: Problem[] = [];
  const report = (message: string) => problems.push({ key: pathText(KEY), message, at: node?.at });
  let page: PageTemplate | undefined;
  if (node?.kind === 'scalar' && typeof node.value === 'string' && node.value !== '') {
    try {
      for (const name of readdirSync(node.value).toSorted()) {
        // A name with a mistake would leave the bundled template in its place without a word.
        if (name === PAGE) page = readTemplate(join(node.value, name), report);
        else if (name.endsWith('.html')) report(`${join(node.value, name)} replaces nothing; the template is ${PAGE}`);
      }
    } catch (error) {
      report(`cannot read the directory ${node.value}: ${systemReason(error)}`);
    }
  }
  return { templates: { page }, problems };
}

function readTemplate(path: string, report: (message: string) => void): PageTemplate | undefined {
  let text: string;
  try {
    const stats = statSync(path);
    // Reading a pipe would wait for ever.
    if (!stats.isFile() || stats.size > MAX_BYTES) {
      report(stats.isFile() ? `the file ${path} is larger than 64 KiB` : `${path} is not a file`);
      return undefined;
    }
    text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    report(
      error instanceof TypeError ? `the file ${path} is not UTF-8` : `cannot read ${path}: ${systemReason(error)}`,
    );
    return undefined;
  }
  const { template, problems } = parsePageTemplate(text);
  for (const problem of [...problems, ...markupProblems(text)]) report(`${path}${placeIn(text, problem)}`);
  return template;
}

function placeIn(text: string, { offset, message }: TemplateProblem): string {
  const before = text.slice(0, offset).split('\n');
  return `:${before.length}:${(before.at(-1)?.length ?? 0) + 1}: ${message}`;
}
