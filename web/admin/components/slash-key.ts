import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

/** Focuses an input when the user presses `/`, except while typing or in a dialog. */
export function useSlashKey(input: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const { target } = event;
      const isTyping = target instanceof HTMLElement && target.matches('input, select, textarea, dialog *');
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);
}
