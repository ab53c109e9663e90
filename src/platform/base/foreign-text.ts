const MAX_CHARACTERS = 300;

/**
 * Prepares text from another server for the log, where it may be the only hint at what an operator has to change.
 * Removes control and invisible characters and truncates it. Never for a page.
 */
export function foreignText(text: string): string {
  const visible = text.slice(0, 4 * MAX_CHARACTERS).replace(/[\s\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ');
  return [...visible.trim()].slice(0, MAX_CHARACTERS).join('');
}
