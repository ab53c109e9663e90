import type { VNode } from 'preact';

/** The drawings of the stylesheet. */
export type IconName = 'key' | 'check' | 'warning';

/** A drawing in the colour of the text around it, which says the same in words. */
export function Icon({ name }: { name: IconName }): VNode {
  return <span class={`icon icon-${name}`} aria-hidden="true" />;
}
