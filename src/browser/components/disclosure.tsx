import type { ComponentChildren, VNode } from 'preact';

/** What few people need: shown when its label is pressed. */
export function Disclosure({
  label,
  isOpen,
  children,
}: {
  label: string;
  /** From the start. */
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
