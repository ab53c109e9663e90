import { useLayoutEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';

// The browser would restore the position immediately, before the response gives the page its former length.
let wanted: number | undefined;

const SETTLED_MS = 100;

/** Stores the scroll position with each history entry. */
export function keepScrollPositions(): void {
  history.scrollRestoration = 'manual';
  wanted = positionOf(history.state);
  addEventListener('popstate', (event) => {
    wanted = positionOf(event.state) ?? 0;
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  addEventListener('scroll', () => {
    const { href } = location;
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (wanted === undefined && location.href === href) history.replaceState({ position: scrollY }, '');
    }, SETTLED_MS);
  });
}

/** Restores the scroll position after a navigation by the browser's back and forward buttons. */
export function useRestoredScroll(): void {
  const { url } = useLocation();
  useLayoutEffect(() => {
    if (wanted !== undefined) scrollTo(0, wanted);
    wanted = undefined;
  }, [url]);
}

function positionOf(state: unknown): number | undefined {
  if (typeof state !== 'object' || state === null || !('position' in state)) return undefined;
  return typeof state.position === 'number' ? state.position : undefined;
}
