import { useEffect, useRef } from 'preact/hooks';

/** The row that had the focus may be gone from a list: then readers go on at the head of the page. */
export function useFocusAfterRemoval(rows: number): void {
  const shown = useRef(rows);
  useEffect(() => {
    if (rows < shown.current && document.activeElement === document.body) document.querySelector('h1')?.focus();
    shown.current = rows;
  }, [rows]);
}
