import { useEffect, useState } from 'preact/hooks';

const EVENT = 'account-content-shown';
const PATIENCE_MS = 1000;
let isContentShown = false;

/** Signals that the page shows its main content, so that less important queries can start. */
export function useReportContentShown(): void {
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
    // Pages without a query send no signal.
    const timer = setTimeout(show, PATIENCE_MS);
    return () => {
      removeEventListener(EVENT, show);
      clearTimeout(timer);
    };
  }, []);
  return isShown;
}
