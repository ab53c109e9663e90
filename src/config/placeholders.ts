/**
 * Operator text with `{{ name }}` placeholders. There are no conditions, loops or expressions, and only the given
 * variables exist.
 */

/** Literal text and variables. */
export type Template<Name extends string> = readonly (string | { readonly variable: Name })[];

export interface TemplateProblem {
  /** Offset in the text. */
  readonly offset: number;
  readonly message: string;
}

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;

/**
 * Parses a text with placeholders.
 * @param names the available variables
 */
export function parsePlaceholders<Name extends string>(
  text: string,
  names: readonly Name[],
): { readonly template: Template<Name>; readonly problems: TemplateProblem[] } {
  const template: (string | { readonly variable: Name })[] = [];
  const problems: TemplateProblem[] = [];
  let end = 0;
  for (const match of text.matchAll(PLACEHOLDER)) {
    const name = (match[1] ?? '').trim();
    const variable = names.find((known) => known === name);
    template.push(text.slice(end, match.index));
    end = match.index + match[0].length;
    if (variable !== undefined) template.push({ variable });
    else problems.push({ offset: match.index, message: unknownVariable(name, names) });
  }
  template.push(text.slice(end));
  const open = text.replace(PLACEHOLDER, ({ length }) => ' '.repeat(length)).search(/\{\{|\}\}/);
  if (open !== -1) problems.push({ offset: open, message: 'expected {{ name }}: unbalanced braces' });
  return { template, problems };
}

function unknownVariable(name: string, names: readonly string[]): string {
  return `unknown variable "${name}"; available: ${names.join(', ')}`;
}

/** Counts the occurrences of a variable in a template. */
export function countOf<Name extends string>(template: Template<Name>, name: Name): number {
  return template.filter((part) => typeof part === 'object' && part.variable === name).length;
}

export function renderPlaceholders<Name extends string>(
  template: Template<Name>,
  put: (variable: Name) => string,
): string {
  return template.map((part) => (typeof part === 'string' ? part : put(part.variable))).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes plain text for HTML. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
