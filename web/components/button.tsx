import type { ComponentChildren, VNode } from 'preact';
import type { ButtonKind } from '../../src/browser/components/buttons.tsx';

/** A button with an action, or a submit button if it has no `onClick`. */
export function Button({
  kind = 'primary',
  isPending = false,
  isDisabled = false,
  label,
  onClick,
  children,
}: {
  kind?: ButtonKind;
  /** Waiting for a response; further clicks are ignored. */
  isPending?: boolean;
  isDisabled?: boolean;
  /** For screen readers, if the text alone does not identify the object. */
  label?: string;
  onClick?: () => void;
  children: ComponentChildren;
}): VNode {
  return (
    <button
      type={onClick === undefined ? 'submit' : 'button'}
      class={`button button-${kind}`}
      disabled={isDisabled}
      // A disabled button would lose the keyboard focus.
      aria-disabled={isPending}
      aria-busy={isPending}
      aria-label={label === undefined ? undefined : withVisibleText(label, children)}
      onClick={isPending ? keepFromSending : onClick}
    >
      {children}
    </button>
  );
}

/** Users of speech input say the text that they see, so the name contains it in every language (WCAG 2.5.3). */
function withVisibleText(label: string, text: ComponentChildren): string {
  const isContained = typeof text !== 'string' || label.toLowerCase().includes(text.toLowerCase());
  return isContained ? label : `${text}: ${label}`;
}

function keepFromSending(event: Event): void {
  event.preventDefault();
}
