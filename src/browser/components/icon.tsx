import type { VNode } from 'preact';

/** Icons of the stylesheet. */
export type IconName = 'key' | 'check' | 'warning' | 'language';

/** An icon in the color of the surrounding text, which says the same in words. */
export function Icon({ name }: { name: IconName }): VNode {
  return <span class={`icon icon-${name}`} aria-hidden="true" />;
}
