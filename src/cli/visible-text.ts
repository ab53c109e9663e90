/** Escapes control characters, so that text from users and other services cannot control the terminal. */
export function visible(text: string): string {
  return text.replace(/\p{C}/gu, '\ufffd');
}
