import { useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useConfig } from './config-context.ts';

/**
 * What the address names below a page, decoded once; it may hold `/`. Empty when it is not well-formed. A page that is
 * left stays for as long as the next one is loaded, and goes on to show what it was about.
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
