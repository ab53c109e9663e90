import { expect } from 'vitest';
import { documentProblems } from '#browser/document-problems.ts';

/**
 * Checks what every page must satisfy: no inline scripts or styles, and the document structure for assistive
 * technology.
 */
export function expectCleanPage(html: string): void {
  expect(documentProblems(html)).toEqual([]);
}

/** Texts that would run or break out of their context if they were not escaped (security S-74). */
export const HOSTILE_TEXTS = [
  '"><svg onload=alert(1)>',
  "' autofocus onfocus=alert(1) x='",
  '{{7*7}}#{7*7}<%= 7*7 %>$\u007b7*7}',
  '{count, plural, other {x}} {client}',
  '</script><script>alert(1)</script>',
  '</title><script>alert(1)</script>',
  'javascript:alert(1)',
  '\u2028alert(1)\u2029',
  '+ADw-script+AD4-alert(1)+ADw-/script+AD4-',
  '\u202Egnp.exe\u0007\u0000',
  '&lt;b&gt;&#x3C;',
  '<'.repeat(10_000),
] as const;

/** Returns the tags of a page without its text. Equal for two pages that differ only in their data. */
export function tagsOf(html: string): string[] {
  return [...html.matchAll(/<(\/?[a-z][a-z0-9]*)[^>]*>/g)].map((match) => match[1] ?? '');
}
