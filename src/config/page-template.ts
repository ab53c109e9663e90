/**
 * What stands around the content of every page, as an operator may write it: HTML in which `{{ name }}` stands for a
 * variable. Nothing is computed and nothing that a stranger chose is among the variables.
 */

/** Markup that the service makes. */
const PARTS = ['brand', 'content', 'footer'] as const;
/** Plain text; escaped where it is put. */
const TEXTS = ['index_path', 'language', 'page_class', 'service_name'] as const;

export type TemplateVariable = (typeof PARTS)[number] | (typeof TEXTS)[number];
export type TemplateValues = Readonly<Record<TemplateVariable, string>>;

/** Markup as written, and variables between it. */
export type PageTemplate = readonly (string | { readonly variable: TemplateVariable })[];

export const BUNDLED_PAGE_TEMPLATE = `<div class="{{ page_class }}">
  <header class="brand">{{ brand }}</header>
  {{ content }}
  {{ footer }}
</div>
`;

export interface TemplateProblem {
  /** Where it begins in the text. */
  readonly offset: number;
  readonly message: string;
}

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;

export function parsePageTemplate(text: string): {
  readonly template: PageTemplate;
  readonly problems: readonly TemplateProblem[];
} {
  const template: (string | { readonly variable: TemplateVariable })[] = [];
  const problems: TemplateProblem[] = [];
  let end = 0;
  for (const match of text.matchAll(PLACEHOLDER)) {
    const name = (match[1] ?? '').trim();
    const variable = [...PARTS, ...TEXTS].find((known) => known === name);
    template.push(text.slice(end, match.index));
    end = match.index + match[0].length;
    if (variable !== undefined) template.push({ variable });
    else problems.push({ offset: match.index, message: unknownVariable(name) });
  }
  template.push(text.slice(end));
  const open = text.replace(PLACEHOLDER, ({ length }) => ' '.repeat(length)).search(/\{\{|\}\}/);
  if (open !== -1) problems.push({ offset: open, message: 'expected {{ name }}: the braces do not fit together' });
  const contents = template.filter((part) => typeof part === 'object' && part.variable === 'content').length;
  if (contents !== 1) problems.push({ offset: 0, message: `needs {{ content }} once, has it ${contents} times` });
  return { template, problems };
}

function unknownVariable(name: string): string {
  return `there is no variable "${name}"; there are ${[...PARTS, ...TEXTS].join(', ')}`;
}

export function renderPageTemplate(template: PageTemplate, values: TemplateValues): string {
  const shown = template.map((part) => {
    if (typeof part === 'string') return part;
    const value = values[part.variable];
    return PARTS.some((name) => name === part.variable) ? value : escaped(value);
  });
  return shown.join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
