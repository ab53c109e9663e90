const DOT_SEGMENT = /(?:^|[/\\])\.{1,2}(?:$|[/\\])/;

/**
 * Returns whether proxies and browsers resolve a path below an area to a different one (security S-152).
 * @param path percent-decoded once
 */
export function hasDotSegment(path: string): boolean {
  return DOT_SEGMENT.test(path);
}
