/** What people and other services chose must not steer a terminal. */
export function visible(text: string): string {
  return text.replace(/\p{C}/gu, '\ufffd');
}
