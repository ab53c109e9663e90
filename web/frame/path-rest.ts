import { useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useConfig } from './config-context.ts';

/**
 * Returns the rest of the URL path below a page, decoded once; it may contain `/`. Empty if malformed. A page being
 * left stays visible while the next one loads, and keeps its own value.
 * @param page for example `sessions`
 */
export function usePathRest(page: string): string {
  const { root } = useConfig();
  const { url } = useLocation();
  const last = useRef('');
  const { pathname } = new URL(url, location.origin);
  const beginning = `${root}${page}/`;
  if (pathname.startsWith(beginning)) last.current = decoded(pathname.slice(beginning.length));
  return last.current;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
