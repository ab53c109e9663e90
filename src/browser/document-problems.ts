import { inlineProblem, readMarkup, type Tag } from '#config/markup.ts';
import type { TemplateProblem } from '#config/placeholders.ts';

/** Attributes that refer to other elements of the page. */
const REFERENCES = ['aria-describedby', 'aria-labelledby', 'aria-controls', 'for'];
/** Attributes that contain URLs. Other attributes may contain what users entered. */
const ADDRESSES = ['action', 'formaction', 'href', 'src', 'srcset'];

/**
 * Returns the problems of a complete page: malformed markup, code or styles that the content security policy would
 * block, and violations of what assistive technology relies on.
 */
export function documentProblems(html: string): readonly TemplateProblem[] {
  const { tags, problems } = readMarkup(html);
  return [
    ...problems,
    ...(/^<!doctype html>\n<html lang="[a-zA-Z0-9-]+" dir="(?:ltr|rtl)">/.test(html)
      ? []
      : [{ offset: 0, message: 'expected <!doctype html> and the language and direction of the page' }]),
    ...['title', 'h1', 'main'].flatMap((name) => countProblem(tags, name)),
    ...tags.flatMap((tag) => inlineProblems(html, tag)),
    ...idProblems(tags),
  ].toSorted((left, right) => left.offset - right.offset);
}

/** Returns the problems of an email's HTML. Its styles are inline, because email programs drop other styles. */
export function mailProblems(html: string): readonly TemplateProblem[] {
  const { tags, problems } = readMarkup(html);
  const inline = tags.flatMap(({ name, attributes, offset }) => [
    ...(name === 'script' ? [{ offset, message: '<script> is not allowed in a mail' }] : []),
    ...attributes.filter((attribute) => attribute.name !== 'style').flatMap(attributeProblem),
  ]);
  return [...problems, ...inline].toSorted((left, right) => left.offset - right.offset);
}

function countProblem(tags: readonly Tag[], name: string): readonly TemplateProblem[] {
  const found = tags.filter((tag) => tag.name === name);
  if (found.length === 1) return [];
  return [{ offset: found[1]?.offset ?? 0, message: `must have exactly one <${name}>, but has ${found.length}` }];
}

function inlineProblems(html: string, { name, attributes, offset, end }: Tag): readonly TemplateProblem[] {
  const problems = attributes.flatMap(attributeProblem);
  if (name === 'style') problems.push({ offset, message: 'inline style (<style>) is blocked by the browser' });
  if (name === 'script') {
    const isFile = attributes.some((attribute) => attribute.name === 'src' && attribute.value !== '');
    if (!isFile || !html.startsWith('</script>', end))
      problems.push({ offset, message: 'inline script (<script>) is blocked by the browser' });
  }
  return problems;
}

function attributeProblem(attribute: Tag['attributes'][number]): TemplateProblem[] {
  const message = inlineProblem(attribute, ADDRESSES.includes(attribute.name));
  return message === undefined ? [] : [{ offset: attribute.offset, message }];
}

/** Finds duplicate IDs, and references to missing elements. */
function idProblems(tags: readonly Tag[]): readonly TemplateProblem[] {
  const problems: TemplateProblem[] = [];
  const ids = new Set<string>();
  for (const { attributes } of tags) {
    for (const { name, value, offset } of attributes) {
      if (name !== 'id') continue;
      if (ids.has(value)) problems.push({ offset, message: `duplicate id "${value}"` });
      ids.add(value);
    }
  }
  for (const { attributes } of tags) {
    for (const { name, value, offset } of attributes) {
      if (!REFERENCES.includes(name)) continue;
      for (const id of value.split(' '))
        if (!ids.has(id)) problems.push({ offset, message: `${name} refers to "${id}", which is not on the page` });
    }
  }
  return problems;
}
