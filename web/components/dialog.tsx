import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

/**
 * A modal dialog. Focus moves into it, and back to its opener afterwards. Escape closes it unless a response is
 * pending.
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
      // The opener may have been removed together with its row.
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
      // Chromium closes on the second Escape without a cancel event. The event of our own `close` arrives late, when
      // the next dialog may already be open.
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
