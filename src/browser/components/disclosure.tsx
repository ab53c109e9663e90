import type { ComponentChildren, VNode } from 'preact';

/** Content that few users need. It is shown when its label is pressed. */
export function Disclosure({
  label,
  isOpen,
  children,
}: {
  label: string;
  /** Whether it is initially open. */
  isOpen: boolean;
  children: ComponentChildren;
}): VNode {
  return (
    <details class="disclosure" open={isOpen}>
      <summary>{label}</summary>
      {children}
    </details>
  );
}
