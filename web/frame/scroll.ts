import { useLayoutEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';

// The browser would restore the position at once, before the answer that makes the page as long as it was.
let wanted: number | undefined;

const SETTLED_MS = 100;

/** Remembers with each entry of the history how far down the page was. */
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

/** Goes back to where the page was left, when it came up by the browser's own buttons. */
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
