import { useEffect, useState } from 'preact/hooks';

const EVENT = 'account-content-shown';
const PATIENCE_MS = 1000;
let isContentShown = false;

/** Tells that a page shows what was asked for: what is less important may be asked for now. */
export function useTellContentShown(): void {
  useEffect(() => {
    isContentShown = true;
    dispatchEvent(new Event(EVENT));
  }, []);
}

export function useContentShown(): boolean {
  const [isShown, setShown] = useState(isContentShown);
  useEffect(() => {
    const show = () => setShown(true);
    addEventListener(EVENT, show);
    if (isContentShown) show();
    // Pages that ask for nothing do not tell.
    const timer = setTimeout(show, PATIENCE_MS);
    return () => {
      removeEventListener(EVENT, show);
      clearTimeout(timer);
    };
  }, []);
  return isShown;
}
