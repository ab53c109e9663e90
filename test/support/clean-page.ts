import { expect } from 'vitest';
import { documentProblems } from '#browser/document-problems.ts';

/** What every page must keep: no inline script or style, and the frame that assistive technology relies on. */
export function expectCleanPage(html: string): void {
  expect(documentProblems(html)).toEqual([]);
}

/** Texts that would run, or break out of their place, if any of them were not escaped (security S-74). */
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

/** The markup of a page without its texts: equal for two pages that differ in their data only. */
export function tagsOf(html: string): string[] {
  return [...html.matchAll(/<(\/?[a-z][a-z0-9]*)[^>]*>/g)].map((match) => match[1] ?? '');
}
