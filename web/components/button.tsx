import type { ComponentChildren, VNode } from 'preact';
import type { ButtonKind } from '../../src/browser/components/buttons.tsx';

/** A button that does something on the page, or submits its form when it has no `onClick`. */
export function Button({
  kind = 'primary',
  isPending = false,
  isDisabled = false,
  label,
  onClick,
  children,
}: {
  kind?: ButtonKind;
  /** An answer is waited for: pressed again it does nothing. */
  isPending?: boolean;
  isDisabled?: boolean;
  /** For readers of the screen, where the text alone does not say what it is about. */
  label?: string;
  onClick?: () => void;
  children: ComponentChildren;
}): VNode {
  return (
    <button
      type={onClick === undefined ? 'submit' : 'button'}
      class={`button button-${kind}`}
      disabled={isDisabled}
      // Disabled, it would lose the focus, and the keyboard its place.
      aria-disabled={isPending}
      aria-busy={isPending}
      aria-label={label}
      onClick={isPending ? keepFromSending : onClick}
    >
      {children}
    </button>
  );
}

function keepFromSending(event: Event): void {
  event.preventDefault();
}
