/**
 * Parses an absolute URL. Returns undefined if the text is not one. Does not use `URL.canParse`: in Node.js 20, once
 * compiled, it rejects URLs with characters between U+0080 and U+00FF.
 */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** Returns whether a host name refers to this machine. @param hostname as in `URL` */
export function isLoopbackName(hostname: string): boolean {
  return /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
