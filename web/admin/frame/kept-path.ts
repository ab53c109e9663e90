/** Where the administrator was before the sign-in or reauthentication page, in this tab. */
const KEY = 'admin.path';

export function keepPath(): void {
  sessionStorage.setItem(KEY, location.pathname + location.search);
}

/**
 * Takes the kept path, once.
 * @param root path of the area, ending in `/`; paths outside are ignored
 */
export function takeKeptPath(root: string): string | undefined {
  const path = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  return path?.startsWith(root) ? path : undefined;
}
