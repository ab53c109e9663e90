/**
 * What stands around the content of every page, as an operator may write it: HTML in which `{{ name }}` stands for a
 * variable. Nothing is computed and nothing that a stranger chose is among the variables.
 */

import {
  countOf,
  escapeHtml,
  parsePlaceholders,
  renderPlaceholders,
  type Template,
  type TemplateProblem,
} from './placeholders.ts';

/** Markup that the service makes. */
const PARTS = ['brand', 'content', 'footer'] as const;
/** Plain text; escaped where it is put. */
const TEXTS = ['index_path', 'language', 'page_class', 'service_name'] as const;

export type TemplateVariable = (typeof PARTS)[number] | (typeof TEXTS)[number];
export type TemplateValues = Readonly<Record<TemplateVariable, string>>;

export type PageTemplate = Template<TemplateVariable>;

export const BUNDLED_PAGE_TEMPLATE = `<div class="{{ page_class }}">
  <header class="brand">{{ brand }}</header>
  {{ content }}
  {{ footer }}
</div>
`;

export function parsePageTemplate(text: string): {
  readonly template: PageTemplate;
  readonly problems: readonly TemplateProblem[];
} {
  const { template, problems } = parsePlaceholders<TemplateVariable>(text, [...PARTS, ...TEXTS]);
  const contents = countOf(template, 'content');
  if (contents !== 1) problems.push({ offset: 0, message: `needs {{ content }} once, has it ${contents} times` });
  return { template, problems };
}

export function renderPageTemplate(template: PageTemplate, values: TemplateValues): string {
  return renderPlaceholders(template, (variable) => {
    const isMarkup = PARTS.some((name) => name === variable);
    return isMarkup ? values[variable] : escapeHtml(values[variable]);
  });
}
