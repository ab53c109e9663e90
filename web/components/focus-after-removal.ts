import { useEffect, useRef } from 'preact/hooks';

/** Moves focus to the page heading if the focused row was removed from a list. */
export function useFocusAfterRemoval(rows: number): void {
  const shown = useRef(rows);
  useEffect(() => {
    if (rows < shown.current && document.activeElement === document.body) document.querySelector('h1')?.focus();
    shown.current = rows;
  }, [rows]);
}
