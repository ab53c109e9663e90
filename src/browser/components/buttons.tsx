import type { ComponentChildren, VNode } from 'preact';

export type ButtonKind = 'primary' | 'secondary' | 'quiet' | 'danger';

/** Submits its form. `name` and `value` distinguish the buttons of a form. */
export function Button({
  kind = 'primary',
  name,
  value,
  children,
}: {
  kind?: ButtonKind;
  name?: string;
  value?: string;
  children: ComponentChildren;
}): VNode {
  return (
    <button type="submit" class={`button button-${kind}`} name={name} value={value}>
      {children}
    </button>
  );
}

/** A link that looks like a button. */
export function LinkButton({
  kind = 'secondary',
  href,
  children,
}: {
  kind?: ButtonKind;
  href: string;
  children: ComponentChildren;
}): VNode {
  return (
    <a class={`button button-${kind}`} href={href}>
      {children}
    </a>
  );
}
