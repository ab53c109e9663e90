const MAX_CHARACTERS = 300;

/**
 * A text that another server sent, as the log may hold it: often it alone says what an operator has to change. Without
 * control and invisible characters, and cut. Never for a page.
 */
export function foreignText(text: string): string {
  const visible = text.slice(0, 4 * MAX_CHARACTERS).replace(/[\s\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ');
  return [...visible.trim()].slice(0, MAX_CHARACTERS).join('');
}
