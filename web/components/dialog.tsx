import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

/**
 * A question above the page. Focus goes into it and back to what opened it; Escape closes it, unless an answer is
 * waited for.
 */
export function Dialog({
  title,
  isPending = false,
  onClose,
  children,
}: {
  title: ComponentChildren;
  isPending?: boolean;
  onClose: () => void;
  children: ComponentChildren;
}): VNode {
  const titleId = useId();
  const ref = useRef<HTMLDialogElement>(null);
  const isGone = useRef(false);
  useEffect(() => {
    const dialog = ref.current;
    const opener = document.activeElement;
    dialog?.showModal();
    return () => {
      isGone.current = true;
      dialog?.close();
      // What opened it may be gone with the row that it was in.
      const target = opener instanceof HTMLElement && opener.isConnected ? opener : document.querySelector('h1');
      target?.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      class="dialog"
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        if (!isPending) onClose();
      }}
      // Chromium closes at the second Escape without asking. The event of our own `close` comes late, when the next
      // dialog may be there already.
      onClose={() => {
        if (isGone.current) return;
        if (isPending) ref.current?.showModal();
        else onClose();
      }}
    >
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  );
}
