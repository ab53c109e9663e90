/**
 * An absolute address; undefined for what is none. `URL.canParse` of Node.js 20 is not asked: once compiled, it refuses
 * addresses with characters between U+0080 and U+00FF.
 */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** Whether only this machine reaches it. @param hostname as `URL` has it */
export function isLoopbackName(hostname: string): boolean {
  return /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
