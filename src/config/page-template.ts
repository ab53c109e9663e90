/**
 * The page layout that operators can provide: HTML with `{{ name }}` variables around the content of every page.
 * Templates contain no logic, and no variable holds user input.
 */

import {
  countOf,
  escapeHtml,
  parsePlaceholders,
  renderPlaceholders,
  type Template,
  type TemplateProblem,
} from './placeholders.ts';

/** Variables with markup rendered by the service. */
const PARTS = ['brand', 'content', 'footer'] as const;
/** Plain-text variables, escaped on insertion. */
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
  if (contents !== 1)
    problems.push({ offset: 0, message: `must contain {{ content }} exactly once, found ${contents} times` });
  return { template, problems };
}

export function renderPageTemplate(template: PageTemplate, values: TemplateValues): string {
  return renderPlaceholders(template, (variable) => {
    const isMarkup = PARTS.some((name) => name === variable);
    return isMarkup ? values[variable] : escapeHtml(values[variable]);
  });
}
